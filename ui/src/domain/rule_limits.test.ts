// How long a rule holds, in words and as it is typed.

import { expect, test } from 'vitest';
import { endOf, moment, timeOf, typed, usesOf } from './rule_limits';

// Of the machine's own time zone, as a person means it.
const NOW = new Date(2026, 10, 21, 16, 10).getTime();
const at = (...[month, day, hour, minute]: [number, number, number, number]) =>
  new Date(2026, month - 1, day, hour, minute).getTime();

test.each<[string, number | null]>([
  ['17:30', at(11, 21, 17, 30)],
  ['9:05', at(11, 22, 9, 5)],
  ['16:10', at(11, 22, 16, 10)],
  ['2026-12-01', at(12, 1, 0, 0)],
  [' 2026-12-01 13:00 ', at(12, 1, 13, 0)],
  ['2026-12-01T13:00', at(12, 1, 13, 0)],
  ['2026-11-21 16:00', null],
  ['2026-02-30 10:00', null],
  ['24:00', null],
  ['tomorrow', null],
  ['', null],
])('%j as a time', (text, time) => expect(timeOf(text, NOW)).toBe(time));

test('what is typed is read back as the same time', () =>
  expect(timeOf(typed(at(12, 1, 13, 0)), NOW)).toBe(at(12, 1, 13, 0)));

test('a span ends when it says', () => {
  expect(['', 'hour', 'today', 'week', 'month'].map((id) => endOf(id, NOW))).toEqual([
    null,
    at(11, 21, 17, 10),
    at(11, 22, 0, 0),
    NOW + 7 * 86_400_000,
    NOW + 30 * 86_400_000,
  ]);
});

test('a moment is told by its time today, and by its day else', () =>
  expect([moment(at(11, 21, 13, 0), NOW), moment(at(11, 14, 9, 5), NOW)]).toEqual(['13:00', '14 Nov 09:05']));

test.each<[string, number | null | undefined]>([
  ['', null],
  [' 5 ', 5],
  ['0', undefined],
  ['-1', undefined],
  ['1.5', undefined],
  ['many', undefined],
])('%j as uses', (text, uses) => expect(usesOf(text)).toBe(uses));
