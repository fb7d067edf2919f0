// Run limits and strategies as they are typed.

import { expect, test } from 'vitest';
import { amountOf, limitHint, nameOf, sizeOf, strategyOf } from './run_limits';

test.each([
  ['turns', '250', { value: 250 }],
  ['tokens', '50,000,000', { value: 50_000_000 }],
  ['tokens', '50 000', { value: 50_000 }],
  ['cost_usd', '$2.5', { value: 2.5 }],
  ['calls', '0', { value: 0 }],
  ['turns', '2.5', { problem: 'Write a whole number.' }],
  ['turns', '-1', { problem: 'Write a number, or 0 for no limit.' }],
  ['turns', '', { problem: 'Write a number, or 0 for no limit.' }],
  ['minutes', 'long', { problem: 'Write a number, or 0 for no limit.' }],
  ['calls', '5000000000', { problem: 'That is more than can be counted. Use 0 for no limit.' }],
] as const)('%s %s', (name, text, expected) => expect(amountOf(name, text)).toEqual(expected));

test.each([
  ['4', { value: 4 }],
  ['0', { problem: 'Write a whole number, at least 1.' }],
  ['1000', { problem: 'At most 100.' }],
])('a batch of %s', (text, expected) => expect(sizeOf(text)).toEqual(expected));

test('a batch keeps its size', () => {
  expect([
    strategyOf('batched', 'parallel'),
    strategyOf('batched', { batched: { size: 7 } }),
    strategyOf('sequential', { batched: { size: 7 } }),
  ]).toEqual([{ batched: { size: 4 } }, { batched: { size: 7 } }, 'sequential']);
  expect([nameOf('parallel'), nameOf({ batched: { size: 2 } })]).toEqual(['parallel', 'batched']);
});

test.each([
  [0, 'Read and written', 'No limit'],
  [250, '', ''],
  [50_000_000, 'Read and written', '50,000,000, read and written'],
  [20_000, '', '20,000'],
])('%d of %j', (value, hint, words) => expect(limitHint(value, hint)).toBe(words));
