// A form made of a schema, and the arguments that result from the typed drafts.

import { describe, expect, test } from 'vitest';
import { draftFrom, emptyDraft, fieldOf, filled, valueOf, type FormField } from './fields';

const object = (properties: object, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const whole = object(
  { path: { type: 'string' }, offset: { type: 'integer' }, all: { type: 'boolean' }, mode: { enum: ['a', 'b'] } },
  ['path'],
);

describe('fields', () => {
  test.each<[string, object, FormField['kind']]>([
    ['text', { type: 'string' }, 'text'],
    ['a number', { type: 'number' }, 'number'],
    ['yes or no', { type: 'boolean' }, 'boolean'],
    ['a choice', { enum: [1, 'a', null] }, 'choice'],
    ['a constant', { const: 3 }, 'choice'],
    ['a list', { type: 'array', items: { type: 'string' } }, 'list'],
    ['a list of anything', { type: 'array' }, 'json'],
    ['several types', { type: ['string', 'null'] }, 'json'],
    ['one of several', { anyOf: [{ type: 'string' }, { type: 'integer' }] }, 'json'],
    ['a remote reference, never fetched', { $ref: 'https://example.com/s.json' }, 'json'],
    ['an object without members', object({}), 'object'],
  ])('%s', (_, schema, kind) => expect(fieldOf(schema).kind).toBe(kind));

  test('a cyclic reference ends in JSON', () => {
    const tree = { type: 'object', properties: { next: { $ref: '#' } }, additionalProperties: false };
    let field = fieldOf(tree);
    let depth = 0;
    while (field.kind === 'object' && field.members[0]) {
      field = field.members[0].field;
      depth += 1;
    }
    expect([field.kind, depth]).toEqual(['json', 5]);
  });

  test('what only the host puts in has no field', () => {
    const field = fieldOf(object({ a: { type: 'string' }, token: { type: 'string', visibility: 'internal' } }));
    expect(field.kind === 'object' && field.members.map((member) => member.name)).toEqual(['a']);
  });
});

describe('values', () => {
  const field = fieldOf(whole);
  const come = (draft: object) => valueOf(field, { ...(emptyDraft(field) as object), ...draft });
  test('what is optional and empty is left out, what is required stands', () =>
    expect(come({})).toEqual({ value: { path: '' }, problems: [] }));
  test('everything', () =>
    expect(come({ path: 'a', offset: ' 3 ', all: false, mode: 1 }).value).toEqual({
      path: 'a',
      offset: 3,
      all: false,
      mode: 'b',
    }));
  test.each([
    ['x', 'This is not a number.'],
    ['1.5', 'This is not a whole number.'],
    ['Infinity', 'This is not a number.'],
  ])('%s as a whole number', (offset, text) => expect(come({ offset }).problems).toEqual([{ path: 'offset', text }]));

  test('lists and objects, with the place of what is wrong', () => {
    const deep = fieldOf(
      object(
        {
          items: { type: 'array', items: object({ n: { type: 'integer' } }, ['n']) },
          near: object({ on: { type: 'boolean' } }, ['on']),
        },
        ['items'],
      ),
    );
    expect(valueOf(deep, { items: [{ n: '1' }, { n: '' }], near: null })).toEqual({
      value: { items: [{ n: 1 }, {}] },
      problems: [{ path: 'items[1].n', text: 'Write a number.' }],
    });
    const near = deep.kind === 'object' ? deep.members[1]?.field : undefined;
    if (near?.kind !== 'object') throw new Error('no object');
    expect(valueOf(deep, { items: [], near: filled(near) }).value).toEqual({ items: [], near: { on: false } });
  });

  test('JSON goes into the form and back, or says that it does not fit', () => {
    const given = { path: 'a', offset: 3, all: true };
    const draft = draftFrom(field, given);
    expect(draft !== undefined && valueOf(field, draft).value).toEqual(given);
    for (const other of [{ path: 1 }, { path: 'a', more: 1 }, { path: 'a', mode: 'c' }, []])
      expect(draftFrom(field, other)).toBeUndefined();
  });
});
