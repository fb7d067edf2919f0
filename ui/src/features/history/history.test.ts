// The History in a page: one change, several, back to a point, paths that changed since, the receipt, the store
// (design/ui.md, look/4-history).

import { fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import { describe, expect, test } from 'vitest';
import sample from '../../../../tests/golden/sample.jsonl?raw';
import { findFaults } from '../../testing/accessibility';
import HistoryPage from '../../gallery/HistoryPage.svelte';
import { FakeHost } from '../../ipc/fake';
import { parseStream } from '../../ipc/fake_streams';
import { Desk } from '../../state/desk.svelte';

const at = (id: string) => screen.getByTestId(id);
const click = async (id: string) => fireEvent.click(await screen.findByTestId(id));
const text = (id: string) => at(id).textContent?.replace(/\s+/g, ' ').trim();
const enabled = async (id: string) => waitFor(() => expect((at(id) as HTMLButtonElement).disabled).toBe(false));
const restored = (host: FakeHost) =>
  host.ops.flatMap((op) => (op.type === 'restore' ? [{ restore: op.restore, choices: op.choices }] : []));

async function open(prepare: (host: FakeHost) => void = () => {}): Promise<{ host: FakeHost; desk: Desk }> {
  const host = new FakeHost(parseStream(sample));
  prepare(host);
  const desk = await Desk.open(host);
  render(HistoryPage, { desk });
  await screen.findByTestId('history-list');
  return { host, desk };
}

test('one change goes back, and its receipt says what happened', async () => {
  const { host } = await open();
  await click('history-und_0001');
  await waitFor(() => expect(text('coverage')).toBe('Removes 1 file.Nothing changed since.'));
  await click('undo');
  expect(restored(host)).toEqual([{ restore: { type: 'undo', entries: ['und_0001'] }, choices: [] }]);
  expect(text('receipt-tally')).toBe('1 path removed');
  expect(await screen.findByTestId('redo')).toBeTruthy();
  await click('redo');
  expect(restored(host)[1]).toEqual({ restore: { type: 'redo', entry: 'und_0001' }, choices: [] });
});

test('a path is opened in the editor and shown in its folder, as long as it is there', async () => {
  const { host } = await open();
  await click('history-und_0001');
  for (const choice of ['open-0', 'show']) {
    await click('path-0');
    await click(`path-0-${choice}`);
  }
  const file = '/home/mira/code/tidemark/docs/planner-split.md';
  await waitFor(() => expect(host.opened).toEqual([`${file}:1`, file]));
  await enabled('undo');
  await click('undo');
  // The act removed the file.
  const receipt = within(await screen.findByTestId('receipt'));
  expect(receipt.getByText('docs/planner-split.md').closest('s')).toBeTruthy();
  expect(receipt.queryByTestId('path-0')).toBeNull();
});

test('several go back together, with what cannot be undone said before', async () => {
  const { host } = await open(
    (host) => (host.history.lost = [{ entry: 'und_0005', what: 'git push', reason: 'It left this machine.' }]),
  );
  expect((at('tick-und_0003') as HTMLInputElement).disabled, 'undone already').toBe(true);
  await click('tick-und_0005');
  expect((at('tick-und_0004') as HTMLInputElement).disabled, 'of another folder').toBe(true);
  await click('tick-und_0001');
  await waitFor(() => expect(text('cannot')).toContain('git push It left this machine.'));
  expect(text('undo-card')).toContain('Undo 2 changes');
  await click('undo');
  expect(restored(host)).toEqual([{ restore: { type: 'undo', entries: ['und_0005', 'und_0001'] }, choices: [] }]);
  // The act is an entry itself: it is selected now, with its receipt.
  await waitFor(() => expect(text('undo-card')).toContain('Undid: 2 entries'));
  await waitFor(() => expect(text('receipt-tally')).toBe('1 path restored, 1 removed'));
  await click('undo');
  expect(restored(host)[1]?.restore).toEqual({ type: 'undo', entries: ['act_1'] });
});

test('everything after a point goes back, if it is not called off', async () => {
  const { host } = await open();
  await click('history-und_0001');
  await click('back-to');
  await waitFor(() => expect(text('undo-card')).toContain('Everything after “Wrote docs/planner-split.md”'));
  await click('history-cancel');
  await click('back-to');
  await enabled('undo');
  await click('undo');
  expect(restored(host)).toEqual([{ restore: { type: 'undo_to', entry: 'und_0001' }, choices: [] }]);
});

describe('a path that changed since', () => {
  const clash = (host: FakeHost) =>
    (host.history.conflicts = { und_0002: ['crates/core/src/lib.rs', 'docs/logo.png'] });
  test('is never decided for the person: nothing is chosen, and nothing can be done before all is', async () => {
    const { host } = await open(clash);
    await click('history-und_0002');
    await screen.findByTestId('conflicts');
    expect(screen.getAllByRole('radio').filter((radio) => (radio as HTMLInputElement).checked)).toEqual([]);
    expect(screen.queryByTestId('choice-1-merge'), 'a picture cannot be merged').toBeNull();
    await click('choice-0-merge');
    expect(text('choice-diff-0')).toContain('pub mod plan;');
    expect((at('undo') as HTMLButtonElement).disabled).toBe(true);
    await click('choice-1-keep');
    await enabled('undo');
    await click('undo');
    expect(restored(host)).toEqual([
      {
        restore: { type: 'undo', entries: ['und_0002'] },
        choices: [
          { path: 'crates/core/src/lib.rs', choice: 'merge' },
          { path: 'docs/logo.png', choice: 'keep' },
        ],
      },
    ]);
  });
  test('can be chosen for all at once, where each allows it', async () => {
    await open(clash);
    await click('history-und_0002');
    await click('choose-all-merge');
    expect([(at('choice-0-merge') as HTMLInputElement).checked, (at('undo') as HTMLButtonElement).disabled]).toEqual([
      true,
      true,
    ]);
    await click('choose-all-keep');
    await enabled('undo');
  });
  test('that changed while it was looked at refuses, and is told', async () => {
    const { host } = await open();
    await click('history-und_0002');
    await enabled('undo');
    clash(host);
    await click('undo');
    expect((await screen.findByTestId('conflicts')).textContent).toContain('2 paths changed since.');
    host.history.conflicts = {};
    await click('look-again');
    await waitFor(() => expect(screen.queryByTestId('conflicts')).toBeNull());
  });
});

test('the store is told with its size and its limit, and cleaned up', async () => {
  const { host, desk } = await open((host) => (host.history.warnings = ['This is your home folder.']));
  expect(text('history-cover')).toContain('of 2 GB and are kept for 30 days.');
  expect(text('history-warning')).toBe('This is your home folder.');
  await click('collect');
  expect(host.ops.at(-1)).toEqual({ type: 'collect_history' });
  await waitFor(() => expect(desk.toasts.lines.at(-1)?.title).toBe('1.2 MB freed'));
});

test('one folder alone can be looked at', async () => {
  await open();
  await click('history-folder');
  await click('history-folder-/home/mira/code/ferry');
  await waitFor(() => expect(screen.queryByTestId('history-und_0001')).toBeNull());
  expect(at('history-und_0004')).toBeTruthy();
});

test.each<[string, (host: FakeHost) => void, string[]]>([
  ['as it opens', () => {}, []],
  [
    'with conflicts',
    (host) => (host.history.conflicts = { und_0002: ['crates/core/src/lib.rs'] }),
    ['history-und_0002', 'choice-0-merge'],
  ],
  ['with a receipt', () => {}, ['history-und_0001', 'undo']],
])('has no fault that axe finds %s', async (_, prepare, press) => {
  await open(prepare);
  for (const id of press) await click(id);
  await waitFor(() => expect(screen.queryByText('Looking…')).toBeNull());
  expect(await findFaults(document.body)).toEqual([]);
});
