// The Tools screen on a recorded engine: looking, switching off, making stricter, and trying by a form.

import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { findSeriousFaults } from '../../testing/accessibility';
import { at, click, openApp, text, type } from '../../app/app_page';
import type { EventBody } from '../../ipc/bindings';
import { FakeHost } from '../../ipc/fake';
import type { Desk } from '../../state/desk.svelte';

async function open(faults: string[] = []): Promise<{ host: FakeHost; desk: Desk }> {
  const host = new FakeHost([], { faults: faults.map((message) => ({ message, hint: 'Correct it.', context: [] })) });
  const desk = await openApp(host);
  await click('rail-tools');
  await screen.findByTestId('tool-read');
  return { host, desk };
}

test('every side of a tool stands without a serious finding, and tells what is inferred and what is internal', async () => {
  await open(['.countersign/tools/bad.json, line 4: no `description`.']);
  expect(text('tool-fault')).toBe('.countersign/tools/bad.jsonline 4 no `description`. Correct it.');
  await click('tool-tracker__get_issue');
  expect(text('tool-setup')).toContain('set TRACKER_TOKEN');
  for (const side of ['tab-about', 'tab-try', 'tab-developers', 'form-schema', 'form-raw', 'form-interface']) {
    await click(`tool-${side}`);
    expect(await findSeriousFaults()).toEqual([]);
  }
  expect(text('partition-safety')).toContain('Removes somethingnoinferred');
  await click('tool-form-schema');
  expect(text('schema-runtime')).toContain('from credentials');
  expect(text('schema-model')).not.toContain('token');
  await click('tool-edit');
  expect(text('about-aliases')).toBe('edit_file, where old_text is old_string, new_text is new_string');
  expect(text('about-needs')).toContain('Creates, changes or removes any file of the folder');
});

test('beside a session the tools are asked for once, and not again at each event', async () => {
  const host = new FakeHost();
  const opened = (title: string): EventBody => ({
    type: 'session_opened',
    title,
    workspace: '/home/mira/code/tidemark',
    model: { provider: 'demo', model: '' },
  });
  host.emit('ses_one', opened('One'));
  const query = host.query.bind(host);
  // A host that never answers the fourth query: an endless loop would stop the test run.
  host.query = ((asked) => (host.queries('tools').length > 3 ? new Promise(() => {}) : query(asked))) as typeof query;
  await openApp(host);
  await click('rail-tools');
  await screen.findByTestId('tool-read');
  host.emit('ses_one', { type: 'session_renamed', title: 'Another name' });
  await screen.findByText('Another name');
  expect(host.queries('tools').length).toBe(1);
});

test('the filter narrows the list, and arrow keys walk it', async () => {
  await open();
  await type('tools-filter', 'off');
  expect(screen.getByTestId('tools-none')).toBeTruthy();
  await type('tools-filter', '');
  at('tools-filter').focus();
  await fireEvent.keyDown(at('tools-filter'), { key: 'ArrowDown' });
  await fireEvent.keyDown(document.activeElement ?? document.body, { key: 'ArrowDown' });
  expect(document.activeElement?.getAttribute('data-testid')).toBe('tool-edit');
});

test('a tool is switched off, also one whose name is locked, and made stricter only', async () => {
  const { host } = await open();
  await click('tool-edit');
  await click('tool-enabled');
  expect(host.ops.at(-1)).toEqual({ type: 'set_tool', tool: 'edit', enabled: false, mode: null });
  expect((await screen.findByTestId('tool-off')).textContent).toContain('no other tool can take it');
  expect(at('mark-off')).toBeTruthy();
  await click('tool-enabled');
  await waitFor(() => expect(screen.queryByTestId('tool-off')).toBeNull());
  await click('tool-mode');
  const offered = [...document.querySelectorAll('[role="menuitemradio"]')].map((item) =>
    item.getAttribute('data-testid'),
  );
  expect(offered).toEqual(['tool-mode-', 'tool-mode-destructive', 'tool-mode-local']);
  await click('tool-mode-local');
  expect(host.ops.at(-1)).toEqual({ type: 'set_tool', tool: 'edit', enabled: true, mode: 'local' });
  await waitFor(() => expect(text('about-mode')).toContain('Asks each time, set stricter by you'));
});

test('a tool is tried by its form: checked as it is typed, run, and its card stands right there', async () => {
  const { host, desk } = await open();
  desk.folders.chosen = '/home/mira/code/site';
  await click('tool-read');
  await click('go-try');
  expect(text('try-folder')).toBe('~/code/site');
  await type('field-offset', 'x');
  expect(text('bad-offset')).toBe('This is not a number.');
  await type('field-offset', '');
  await waitFor(() => expect(text('bad-path')).toBe('Must not be empty.'));
  await type('field-path', 'README.md');
  await waitFor(() => expect(screen.queryByTestId('bad-path')).toBeNull());
  await click('try-run');
  expect(host.ops.at(-1)).toEqual({
    type: 'try_tool',
    workspace: '/home/mira/code/site',
    tool: 'read',
    arguments: { path: 'README.md' },
  });
  const card = await screen.findByTestId('card-call_try_read');
  expect(card.textContent).toContain('first line');
  await click('open-tried');
  expect(desk.navigation.view).toMatchObject({ screen: 'session' });
});

test('a card that waits owns the keys on this screen too; JSON stands for what a form cannot hold', async () => {
  const { host, desk } = await open();
  desk.folders.chosen = '/w';
  await click('tool-bash');
  await click('tool-tab-try');
  await click('try-as-json');
  await type('try-json', '{ "command": ');
  expect(text('try-problems')).toContain('This is not JSON.');
  await click('try-run');
  expect(host.ops).toEqual([]);
  await type('try-json', '{ "command": "ls", "more": 1 }');
  await click('try-as-form');
  expect(text('try-problems')).toContain('The form cannot hold these arguments.');
  await type('try-json', '{ "command": "ls" }');
  await click('try-as-form');
  expect((at('field-command') as HTMLTextAreaElement).value).toBe('ls');
  await click('try-run');
  const card = await screen.findByTestId('card-call_try_bash');
  expect(card.dataset['state']).toBe('waiting');
  await waitFor(() => expect(desk.focus.owner?.id).toBe('call_try_bash'));
});
