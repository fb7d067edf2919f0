// The menu of a file, and the editor in the settings, in the whole app.

import { screen, waitFor } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import sample from '../../../tests/golden/sample.jsonl?raw';
import { at, click, openApp, text } from './app_page';
import { openSettings } from '../features/settings/settings_page';
import { FakeHost } from '../ipc/fake';
import { parseStream } from '../ipc/fake_streams';
import { isCall } from '../state/fold';
import { openableFiles } from '../domain/openable';

test('the file of a call is opened in the editor at its first change, and shown in its folder', async () => {
  const host = new FakeHost(parseStream(sample));
  const desk = await openApp(host);
  const entry = desk.waiting.find((one) => isCall(one) && openableFiles(one.body).length === 1);
  if (!entry) throw new Error('no call of the sample waits for one file');
  const [file] = openableFiles(entry.body);
  const workspace = desk.session(entry.session)?.workspace;
  desk.navigation.show(entry.session, entry);
  desk.selection.inspect(entry);
  await screen.findByTestId('inspector');
  for (const choice of ['open-0', 'show']) {
    await click('file-actions');
    await click(`file-actions-${choice}`);
  }
  await waitFor(() =>
    expect(host.opened).toEqual([`${workspace}/${file?.path}:${file?.line ?? 1}`, `${workspace}/${file?.path}`]),
  );
});

test('the editor is the first that is installed until one is chosen', async () => {
  const host = new FakeHost(parseStream(sample));
  await openSettings('appearance', host);
  await waitFor(() => expect(text('set-editor')).toContain('Automatic (Visual Studio Code)'));
  await click('set-editor');
  await click('set-editor-zed');
  await waitFor(() => expect(text('set-editor')).toContain('Zed'));
  const [op] = host.ops.filter(({ type }) => type === 'set_settings');
  expect(op?.type === 'set_settings' && op.settings.editor).toEqual({ program: 'zed', args: [] });
  await click('set-editor');
  expect(at('set-editor-zed').getAttribute('aria-checked')).toBe('true');
});
