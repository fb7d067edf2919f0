// What the work for a message changed: told when it ended, from its calls, and taken back with what the engine says of it.

import { screen, waitFor } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { click, focused, openApp, text } from '../../app/app_page';
import type { Entry } from '../../ipc/bindings';
import { FakeHost } from '../../ipc/fake';
import { playTranscript } from '../../ipc/fake_transcript';
import { isCall } from '../../state/fold';
import { findSeriousFaults } from '../../testing/accessibility';
import { changesByEntry, changeWords } from './changes';

async function entriesOf(): Promise<Entry[]> {
  const host = new FakeHost();
  host.now = () => 1_000;
  playTranscript(host);
  return (await host.query({ type: 'transcript', session: 'ses_words', before: null, limit: 1_000 })).entries;
}
const told = (entries: readonly Entry[], isActive = false, ends = true) =>
  [...changesByEntry(entries, isActive, ends)].map(([id, changes]) => [
    id,
    changeWords(changes).what,
    changes.lines,
    changeWords(changes).rest,
    changes.undo.length,
  ]);

test('work that changed files is summed up at its end: each file once, the lines of all its calls', async () => {
  const entries = await entriesOf();
  const lines = { added: 8, removed: 4 };
  expect(told(entries)).toEqual([['msg_a3', '3 files changed', lines, '2 commands · 0 ms', 4]]);
  const upTo = entries.slice(0, entries.findIndex(({ id }) => id === 'msg_a3') + 1);
  expect([told(upTo).length, told(upTo, true), told(upTo, false, false)]).toEqual([1, [], []]);
});

test('work whose begin is not in the page is not summed up, nor is what was undone', async () => {
  const entries = await entriesOf();
  const first = entries.findIndex(({ id }) => id === 'call_words_9');
  expect(told(entries.slice(first))).toEqual([]);
  const undone = entries.map((entry) =>
    isCall(entry) && entry.body.undo
      ? {
          ...entry,
          body: { ...entry.body, state: 'undone' as const, undo: { ...entry.body.undo, state: 'undone' as const } },
        }
      : entry,
  );
  expect(told(undone)).toEqual([]);
});

test('lines and paths that are not known are not told', async () => {
  const entries = (await entriesOf()).map((entry) =>
    isCall(entry) && entry.id === 'call_words_9' && entry.body.undo
      ? {
          ...entry,
          body: { ...entry.body, preview: { type: 'nothing' as const }, undo: { ...entry.body.undo, paths: 400 } },
        }
      : entry,
  );
  expect(told(entries)).toEqual([['msg_a3', 'Many paths changed', null, '2 commands · 0 ms', 4]]);
});

test('where sub-agents took part, it says that their changes are not in it', async () => {
  const entries = (await entriesOf()).filter(({ id }) => id !== 'msg_a3' && id !== 'msg_p15');
  expect(told(entries)).toEqual([
    ['msg_a4', '3 files changed', { added: 8, removed: 4 }, '2 commands · without its sub-agents · 0 ms', 4],
  ]);
});

async function open(host = new FakeHost()): Promise<FakeHost> {
  playTranscript(host);
  await openApp(host);
  await click('rail-session-ses_words');
  await screen.findByTestId('changes-msg_a3');
  return host;
}

test('all of it is undone together, after what that does was read', async () => {
  const host = await open();
  expect(text('changes-msg_a3')).toMatch(/^3 files changed \+8 −4 · 2 commands/);
  await click('undo-changes-msg_a3');
  await screen.findByTestId('undo-confirm-msg_a3');
  expect([focused(), await findSeriousFaults()]).toEqual(['undo-confirm-msg_a3', []]);
  await click('undo-leave-msg_a3');
  expect([focused(), host.ops.some(({ type }) => type === 'restore')]).toEqual(['undo-changes-msg_a3', false]);
  await click('undo-changes-msg_a3');
  await screen.findByTestId('undo-confirm-msg_a3');
  await click('undo-confirm-msg_a3');
  const entries = ['call_words_9', 'call_words_10', 'call_words_12', 'call_words_13'].map((call) => `und_${call}`);
  expect(host.ops.at(-1)).toEqual({ type: 'restore', restore: { type: 'undo', entries } });
  await waitFor(() => expect(screen.queryByTestId('changes-msg_a3')).toBeNull());
});

test('where a path changed since, nothing is undone here: the history asks what happens to it', async () => {
  const host = new FakeHost();
  host.history.conflicts = { und_call_words_10: ['tests/unary.rs'] };
  await open(host);
  await click('undo-changes-msg_a3');
  await screen.findByTestId('undo-history-msg_a3');
  expect([text('undo-asked-msg_a3'), screen.queryByTestId('undo-confirm-msg_a3')]).toEqual([
    expect.stringContaining('1 path changed since.'),
    null,
  ]);
  await click('undo-history-msg_a3');
  await waitFor(() => expect(document.title).toContain('History'));
});

test('the changes are shown where the history has them', async () => {
  await open();
  await click('show-changes-msg_a3');
  await waitFor(() => expect(document.title).toContain('History'));
  expect(document.getElementById('main')?.textContent).toContain('Edited docs/grammar.md');
});
