// Words for requests to the history; and only the person decides about a path that changed since.

import { describe, expect, test } from 'vitest';
import type { Conflict, ConflictChoice, PathReceipt, UndoEntry } from '../../ipc/bindings';
import { askBackTo, askOne, askSeveral, canJoin, chosenFor, collectedWords, tallyOf, isRedo } from './acts';
import { groupsOf } from './groups';

const DAY_MS = 86_400_000;
const entry = (id: string, more: Partial<UndoEntry> = {}): UndoEntry => ({
  id,
  session: 'ses_1',
  call: `c_${id}`,
  at: 10 * DAY_MS,
  workspace: '/w',
  title: `Edited ${id}`,
  paths: 1,
  bytes: 10,
  shown: [id],
  state: 'applied',
  ...more,
});

test('one entry goes back, or comes again; an undo is undone like any other', () => {
  const action = { direction: 'undo' as const, of: ['a'] };
  expect(
    [
      askOne(entry('a')),
      askOne(entry('a', { state: 'undone' })),
      askOne(entry('u', { action })),
      askOne(entry('u', { action, state: 'undone' })),
    ].map((asked) => [isRedo(asked), asked.restore]),
  ).toEqual([
    [false, { type: 'undo', entries: ['a'] }],
    [true, { type: 'redo', entry: 'a' }],
    [false, { type: 'undo', entries: ['u'] }],
    [false, { type: 'undo', entries: ['u'] }],
  ]);
});

test('several go back together, and all after one; what is undone does not go back again', () => {
  expect([askSeveral([entry('a'), entry('b')]), askBackTo(entry('a'))]).toEqual([
    { restore: { type: 'undo', entries: ['a', 'b'] }, title: '2 changes' },
    { restore: { type: 'undo_to', entry: 'a' }, title: 'Everything after “Edited a”' },
  ]);
  expect([
    canJoin(entry('a')),
    canJoin(entry('a', { state: 'undone' })),
    canJoin(entry('a', { state: 'prepared' })),
  ]).toEqual([true, false, false]);
  expect([canJoin(entry('a'), [entry('b')]), canJoin(entry('a'), [entry('b', { workspace: '/v' })])]).toEqual([
    true,
    false,
  ]);
});

describe('paths that changed since', () => {
  const conflict = (path: string, choices: ConflictChoice[]): Conflict => ({
    path,
    left: null,
    wanted: null,
    now: null,
    choices,
  });
  const both = [conflict('a', ['keep', 'merge', 'restore']), conflict('b', ['keep', 'restore'])];
  test.each<[[string, ConflictChoice][], ReturnType<typeof chosenFor>]>([
    [[], null],
    [[['a', 'merge']], null],
    [
      [
        ['a', 'merge'],
        ['b', 'merge'],
      ],
      null,
    ],
    [
      [
        ['b', 'keep'],
        ['a', 'merge'],
      ],
      [
        { path: 'a', choice: 'merge' },
        { path: 'b', choice: 'keep' },
      ],
    ],
  ])('%j', (said, choices) => expect(chosenFor(both, new Map(said))).toEqual(choices));
  test('none at all need no choice', () => expect(chosenFor([], new Map())).toEqual([]));
});

test('what an act did, and what a collection did', () => {
  const path = (change: PathReceipt['change']): PathReceipt => ({ path: change, change });
  expect(tallyOf([path('restored'), path('restored'), path('removed'), path('created'), path('kept')])).toBe(
    '1 path brought back, 2 restored, 1 removed, 1 kept as it is',
  );
  expect(collectedWords({ entries: 1, bytes_freed: 1_500, entries_left: 4, bytes_left: 90 })).toEqual({
    title: '1.5 kB freed',
    text: '1 old entry dropped. 4 entries left, 90 B.',
  });
  expect(collectedWords({ entries: 0, bytes_freed: 0, entries_left: 1, bytes_left: 90 }).title).toBe(
    'Nothing to clean up',
  );
});

test('neighbours of one session and one day stand together, and nothing moves', () => {
  const entries = [
    entry('a'),
    entry('b'),
    entry('c', { session: 'ses_2' }),
    entry('d'),
    entry('e', { at: 2 * DAY_MS }),
  ];
  expect(groupsOf(entries).map((group) => group.entries.map(({ id }) => id))).toEqual([
    ['a', 'b'],
    ['c'],
    ['d'],
    ['e'],
  ]);
});
