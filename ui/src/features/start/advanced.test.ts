// Options of a session besides its first message, as they are typed.

import { expect, test } from 'vitest';
import { schemaOf, temperatureOf } from './advanced';

test.each([
  ['', null],
  [' {"type": "object"} ', { type: 'object' }],
])('the schema %s is taken', (typed, value) => expect(schemaOf(typed)).toEqual({ value }));

test.each(['{', '[]', '7', 'null', '"object"'])('the schema %s is not', (typed) =>
  expect(schemaOf(typed)).toHaveProperty('problem'),
);

test.each([
  ['', null],
  ['0', 0],
  [' 0.7 ', 0.7],
  ['2', 2],
])('the temperature %s is taken', (typed, value) => expect(temperatureOf(typed)).toEqual({ value }));

test.each(['-0.1', '2.1', 'warm', '0,7', 'NaN'])('the temperature %s is not', (typed) =>
  expect(temperatureOf(typed)).toHaveProperty('problem'),
);
