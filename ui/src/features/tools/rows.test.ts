// A schema as rows.

import { describe, expect, test } from 'vitest';
import { rowsOf, typeWords } from './rows';

const object = (properties: object, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

describe('rows', () => {
  test('members in their order, with what only the host puts in', () => {
    const schema = object(
      {
        list: { type: 'array', maxItems: 3, items: object({ at: { $ref: '#/$defs/at' } }, ['at']) },
        token: { type: 'string', visibility: 'internal', mutation_source: 'credentials' },
      },
      ['list'],
    );
    const rows = rowsOf({ ...schema, $defs: { at: { type: 'string', minLength: 1, description: 'Where.' } } });
    expect(
      rows.map(({ path, depth, type, required, limits, internal, description }) => [
        path,
        depth,
        type,
        required,
        limits,
        internal,
        description,
      ]),
    ).toEqual([
      ['list', 0, 'list of object', true, 'at most 3', null, ''],
      ['list[].at', 1, 'text', true, 'not empty', null, 'Where.'],
      ['token', 0, 'text', false, '', 'credentials', ''],
    ]);
  });
  test.each([
    [{ enum: ['a', 'b'] }, 'a | b'],
    [{ const: 'x' }, 'always "x"'],
    [{ type: ['string', 'null'] }, 'text or nothing'],
    [{ anyOf: [{ type: 'integer' }, { type: 'boolean' }] }, 'whole number or yes or no'],
    [{}, 'anything'],
    [{ $ref: '#' }, 'anything'],
    [{ anyOf: [{ $ref: '#' }, { type: 'string' }] }, 'anything or text'],
  ])('%j is %s', (schema, words) => expect(typeWords(schema, schema)).toBe(words));
});
