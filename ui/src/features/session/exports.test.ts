// A session exported into a file: from the bar and the palette, where the person chooses.

import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { expect, test, vi } from 'vitest';
import sample from '../../../../tests/golden/sample.jsonl?raw';
import { at, click, openApp } from '../../app/app_page';
import { Refused } from '../../ipc/desk';
import { FakeHost } from '../../ipc/fake';
import { parseStream } from '../../ipc/fake_streams';

async function open(): Promise<{ host: FakeHost; session: string }> {
  const host = new FakeHost(parseStream(sample), { home: '/home/mira' });
  const desk = await openApp(host);
  const session = desk.sessions[0]?.id ?? '';
  desk.navigation.show(session);
  await screen.findByTestId('session-more');
  return { host, session };
}

test('the bar and the palette offer Markdown, HTML and JSON Lines, and say where the file is', async () => {
  const { host, session } = await open();
  for (const format of ['md', 'html', 'jsonl'] as const) {
    await click('session-more');
    await click(`session-more-export-${format}`);
    await waitFor(() => expect(host.exported.at(-1)).toEqual([session, format]));
  }
  expect(await screen.findByText('~/session.md')).toBeTruthy();
  await fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true });
  await fireEvent.click(await screen.findByText('Export as HTML…'));
  await waitFor(() => expect(host.exported).toHaveLength(4));
});

test('nothing is said where no file was chosen, and a refusal with its next step', async () => {
  const { host } = await open();
  host.exportFile = null;
  await click('session-more');
  await click('session-more-export-md');
  await waitFor(() => expect(host.exported).toHaveLength(1));
  expect(screen.queryByText('Session exported')).toBeNull();
  const fault = { message: 'The session could not be written.', hint: 'Choose another folder.', context: [] };
  vi.spyOn(host, 'exportSession').mockRejectedValue(new Refused(fault));
  await click('session-more');
  await click('session-more-export-md');
  expect(await screen.findByText('Choose another folder.')).toBeTruthy();
  expect(at('session-more')).toBeTruthy();
});
