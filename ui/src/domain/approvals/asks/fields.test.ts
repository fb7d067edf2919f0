// Forms of servers: the valid values of a field, and the values that are sent.

import { expect, test } from 'vitest';
import type { FieldKind, FormField } from '../../../ipc/bindings';
import { atFirst, problemOf, valuesOf, wants, type FieldValue } from './fields';

const field = (kind: FieldKind, required = true, name = 'x'): FormField => ({
  name,
  title: [{ text: name, control: false }],
  description: [],
  required,
  kind,
});
const text = (more: Partial<Extract<FieldKind, { type: 'text' }>> = {}): FieldKind => ({
  type: 'text',
  format: null,
  chars_min: null,
  chars_max: null,
  default: null,
  ...more,
});
const number = (more: Partial<Extract<FieldKind, { type: 'number' }>> = {}): FieldKind => ({
  type: 'number',
  integer: false,
  min: null,
  max: null,
  default: null,
  ...more,
});
const options = ['a', 'b', 'c'].map((value) => ({ value, title: [{ text: value.toUpperCase(), control: false }] }));
const choices = (more: Partial<Extract<FieldKind, { type: 'choices' }>> = {}): FieldKind => ({
  type: 'choices',
  options,
  items_min: null,
  items_max: null,
  default: [],
  ...more,
});

test.each<[string, FormField, FieldValue, string]>([
  ['a text that is missing', field(text()), '', 'Fill this in.'],
  ['a text that may be missing', field(text({ chars_min: 3 }), false), '', ''],
  [
    'a text too short, by its characters',
    field(text({ chars_min: 3 })),
    'é😀',
    'Write at least 3 characters; these are 2.',
  ],
  ['a text too long', field(text({ chars_max: 1 })), 'ab', 'Write at most 1 character; these are 2.'],
  ['a mail address', field(text({ format: 'email' })), 'a@b', ''],
  ['no mail address', field(text({ format: 'email' })), 'a b@c', 'Write it like name@example.org.'],
  ['no address', field(text({ format: 'uri' })), 'example', 'Write it like https://example.org/page.'],
  ['a day', field(text({ format: 'date' })), '2024-02-29', ''],
  ['no day', field(text({ format: 'date' })), '2023-02-29', 'Write it like 2026-11-22.'],
  ['a moment', field(text({ format: 'date_time' })), '2026-11-22T14:45:00+01:00', ''],
  ['no moment', field(text({ format: 'date_time' })), '2026-11-22 14:45', 'Write it like 2026-11-22T14:45:00Z.'],
  ['no number', field(number()), '1e', 'This is not a number.'],
  ['no number, but empty', field(number()), ' ', 'This is not a number.'],
  ['a fraction', field(number({ integer: true })), '1.5', 'Write a whole number.'],
  ['too little', field(number({ min: 0 })), '-1', 'Write at least 0.'],
  ['too much', field(number({ max: 1000 })), '1001', 'Write at most 1,000.'],
  ['within', field(number({ min: 0, max: 1 })), '.5', ''],
  ['neither yes nor no', field({ type: 'boolean', default: null }), null, 'Choose one.'],
  ['no', field({ type: 'boolean', default: null }), false, ''],
  ['nothing chosen', field({ type: 'choice', options, default: null }), null, 'Choose one.'],
  ['something else chosen', field({ type: 'choice', options, default: null }), 'z', 'Choose one.'],
  ['none of several', field(choices()), [], ''],
  ['fewer than wanted', field(choices({ items_min: 2 })), ['a'], 'Choose at least 2.'],
  ['more than allowed', field(choices({ items_max: 1 })), ['a', 'b'], 'Choose at most 1.'],
])('%s', (_, one, held, problem) => expect(problemOf(one, held)).toBe(problem));

test('what stands there at first, and what is wanted', () => {
  expect(
    [
      text({ default: 'x' }),
      number({ default: 0 }),
      { type: 'boolean', default: true } as const,
      choices({ default: ['b'] }),
    ].map(atFirst),
  ).toEqual(['x', '0', true, ['b']]);
  expect(
    [
      text({ format: 'date', chars_max: 10 }),
      number({ integer: true, min: 1, max: 9 }),
      choices({ items_min: 2, items_max: 2 }),
      choices(),
      text(),
    ].map(wants),
  ).toEqual(['like 2026-11-22, at most 10 characters', 'a whole number, 1 to 9', 'exactly 2', 'any number', '']);
});

test('what was left out is not sent; a number goes as one, a no as one', () => {
  const fields = [
    field(text(), false, 't'),
    field(number(), true, 'n'),
    field({ type: 'boolean', default: null }, true, 'b'),
    field(choices(), true, 'c'),
    field(choices(), false, 'd'),
  ];
  expect(valuesOf(fields, { t: '', n: ' 1e2 ', b: false, c: [], d: [] })).toEqual({ n: 100, b: false, c: [] });
});
