// The engine's own stream, as the demo made it, drawn at every point where a person is needed and at its end.

import { fireEvent, screen, within } from '@testing-library/svelte';
import { expect, test, vi } from 'vitest';
import demo from '../../../tests/golden/demo.jsonl?raw';
import { openApp } from '../app/app_page';
import type { CallState } from '../ipc/bindings';
import { FakeHost } from '../ipc/fake';
import { parseStream } from '../ipc/fake_streams';
import { emptySnapshot } from '../ipc/fake_settings';
import { isCall } from './fold';
import { fromSnapshot, reduce, withPage } from './reduce';

const events = parseStream(demo);
const session = events[0]?.session ?? '';
const waits = events.flatMap((event) => (event.body.type === 'call_waiting' ? [event] : []));

/** Opens the window after so many events. */
async function look(count: number): Promise<void> {
  const seen = events.slice(0, count);
  vi.spyOn(Date, 'now').mockReturnValue((seen.at(-1)?.at ?? 0) + 1_000);
  await openApp(new FakeHost(seen), ({ navigation }) => {
    if (navigation.view.screen === 'start') navigation.show(session);
  });
  await screen.findByTestId('transcript');
}

test.each<[string, RegExp[], string[]]>([
  [
    'a diff',
    [/^Write/, /src\/parser\.rs/, /The agent says/, /3 hunks/, /NEGATE/, /What happens next/],
    ['hunk-0-check', 'hunk-1-check', 'hunk-2-check', 'allow', 'reject', 'later'],
  ],
  [
    'a deletion',
    [/^Delete/, /The agent says/, /3 files, 1 folder/, /drafts\/grammar\.txt/],
    ['allow', 'reject', 'later'],
  ],
  [
    'a command',
    [/^Run/, /wc -l src\/\*\.rs/, /The agent says/, /What it runs, in order/],
    ['allow', 'reject', 'later'],
  ],
  ['a question', [/How should a chain of powers be read\?/, /1 of 2/, /From the right/, /Other/], ['skip', 'later']],
])('the card of %s', async (name, texts, parts) => {
  const at = ['a diff', 'a deletion', 'a command', 'a question'].indexOf(name);
  const wait = waits[at]!;
  await look(wait.seq);
  const call = wait.body.type === 'call_waiting' ? wait.body.call : '';
  const card = await screen.findByTestId(`card-${call}`);
  expect(card.dataset['state']).toBe('waiting');
  for (const details of within(card).queryAllByTestId('details')) await fireEvent.click(details);
  for (const text of texts) expect(card.textContent?.trim()).toMatch(text);
  for (const part of parts) expect(within(card).getByTestId(part)).toBeTruthy();
  expect(screen.getByTestId('rail-count').textContent).toContain('1');
});

test('every call of the finished demo stands on its line, in its state', async () => {
  await look(events.length);
  const lines = [...(await screen.findByTestId('transcript')).querySelectorAll<HTMLElement>('[data-testid^="line-"]')];
  const shown = lines.map((line) => [
    line.querySelector('.name')?.textContent,
    line.querySelector('.target')?.textContent,
    line.querySelector<HTMLElement>('[data-state]')?.dataset['state'],
    line.querySelector('.out.wide')?.textContent,
  ]);
  expect(shown).toEqual([
    ['To do', '4 items', 'done', '0 of 4 done'],
    ['Search', 'Minus in src', 'done', expect.any(String)],
    ['Read', 'src/parser.rs', 'done', expect.any(String)],
    ['Write', 'src/parser.rs', 'done', '+3 −1'],
    ['Edit', 'README.md', 'done', '+1 −1'],
    ['To do', '4 items', 'done', '2 of 4 done'],
    ['Delete', 'drafts', 'undone', ''],
    ['Run', 'wc -l src/*.rs && grep -n NEGATE src/parser.rs', 'done', ''],
    ['Question', 'How should a chain of powers be read? and 1 more', 'done', '2 answers'],
    ['Read', '.env', 'denied', expect.stringMatching(/^Denied by a rule: /)],
    ['To do', '4 items', 'done', '4 of 4 done'],
  ]);
  expect(screen.queryByTestId('rail-count')).toBeNull();
});

test('every prefix folds the same in one batch and event by event, and nothing stays under way', () => {
  const start = () =>
    withPage(fromSnapshot(emptySnapshot()), session, [{ entries: [], more: false, seq: 0 }], 'instead', {
      older: false,
      newer: false,
    });
  let single = start();
  for (const [i, event] of events.entries()) {
    single = reduce(single, [event]);
    expect(reduce(start(), events.slice(0, i + 1))).toEqual(single);
  }
  expect([...single.live.keys()]).toEqual([]);
  expect(single.stale.size).toBe(0);
  const states: Partial<Record<CallState, number>> = {};
  for (const entry of single.pages.get(session)?.entries ?? [])
    if (isCall(entry)) states[entry.body.state] = (states[entry.body.state] ?? 0) + 1;
  expect(states).toEqual({ done: 9, undone: 1, denied: 1 });
});
