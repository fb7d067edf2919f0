// Names of code in words.

import { expect, test } from 'vitest';
import { inWords, labelOf } from './names';

test.each([
  ['send_message', 'Send message', 'send_message'],
  ['send_message (chat)', 'Send message (chat)', 'send_message'],
  ['dueDate', 'Due date', 'dueDate'],
  ['create-issue.v2', 'Create issue v2', 'create-issue.v2'],
  ['path', 'Path', null],
  ['Edit', 'Edit', null],
  ['echo (notes)', 'Echo (notes)', null],
])('%s is "%s"', (name, words, code) => {
  expect(inWords(name)).toEqual({ words, code });
});

test('what is no name of code stays as it is', () => {
  for (const title of ['Create issue comment', '', 'Größe', 'a b_c', '_hidden', 'p\u0430y_me', 'x (y) (z)'])
    expect(inWords(title)).toEqual({ words: title, code: null });
});

test('a member is called by its title, with its name beside it where that differs', () => {
  expect(labelOf('due', 'Due date')).toEqual({ words: 'Due date', code: 'due' });
  expect(labelOf('due', 'due')).toEqual({ words: 'Due', code: null });
  expect(labelOf('due_date', '')).toEqual({ words: 'Due date', code: 'due_date' });
});
