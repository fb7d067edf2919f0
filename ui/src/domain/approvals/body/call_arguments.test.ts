// When the head of a card says all that a call is given.

import { expect, test } from 'vitest';
import { isTargetOnly } from './call_arguments';

const view = (mode: 'read' | 'external' | null, given: Record<string, unknown>, target = 'a.txt') => ({
  call: { id: 'c', name: 't', arguments: given },
  edited: null,
  target,
  mode,
});

test.each([
  ['one path of a tool of ours', view('read', { path: 'a.txt' }), true],
  ['a path and more', view('read', { path: 'a.txt', offset: 3 }), false],
  ['a text that was cut', view('read', { path: 'a.txt/b' }), false],
  ['nothing of a tool of ours', view('read', {}), true],
  ['one text of a tool of somebody else', view(null, { text: 'a.txt' }), false],
  ['what leaves', view('external', { url: 'a.txt' }), false],
])('%s', (_, call, all) => expect(isTargetOnly(call)).toBe(all));

test('what the person wrote counts', () => {
  expect(isTargetOnly({ ...view('read', { path: 'a.txt' }), edited: { path: 'b.txt' } })).toBe(false);
});
