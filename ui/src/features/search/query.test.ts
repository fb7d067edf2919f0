// Filters and words of a query, taken apart and put together again.

import { expect, test } from 'vitest';
import { join, spans, split, toggle, within, write } from './query';

test.each([
  ['words', 'borrow checker', [], 'borrow checker'],
  ['a filter before', 'state:failed borrow*', [{ name: 'state', value: 'failed' }], 'borrow*'],
  [
    'two filters around',
    'tool:bash x mode:local',
    [
      { name: 'tool', value: 'bash' },
      { name: 'mode', value: 'local' },
    ],
    'x',
  ],
  ['a filter with spaces', 'session:"Release notes" v', [{ name: 'session', value: 'Release notes' }], 'v'],
  ['a filter that is not ours stays text', 'color:red x', [], 'color:red x'],
  ['an address is no filter', 'http://docs.rs', [], 'http://docs.rs'],
  ['a filter without a value is still being typed', 'state: x', [], 'state: x'],
])('%s', (_, query, filters, text) => expect(split(query)).toEqual({ filters, text }));

test('what was taken apart is the same when put together', () => {
  for (const query of ['tool:bash borrow*', 'session:"Release notes" v', '"a phrase"', ''])
    expect(join(split(query))).toBe(query);
});

test('a filter is added, and taken away again', () => {
  const failed = { name: 'state', value: 'failed' };
  const once = toggle({ filters: [], text: 'x' }, failed);
  expect(once).toEqual({ filters: [failed], text: 'x' });
  expect(toggle(once, failed)).toEqual({ filters: [], text: 'x' });
});

test('a stretch of time takes the place of another, and goes when it is chosen again', () => {
  const [today, week, month, older] = spans(new Date(2026, 4, 1, 12).getTime()).map((span) => span.filter);
  expect([today, week, month, older].map((filter) => filter && write(filter))).toEqual([
    'after:2026-05-01',
    'after:7d',
    'after:30d',
    'before:30d',
  ]);
  const failed = { name: 'state', value: 'failed' };
  if (!today || !older) throw new Error('a stretch is missing');
  expect(within([failed, today], older)).toEqual([failed, older]);
  expect(within([failed, older], older)).toEqual([failed]);
});
