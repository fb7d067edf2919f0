// Words that are found in a text, each as a piece of its own.

import { expect, test } from 'vitest';
import { marked } from './match';

const shown = (text: string, ...words: string[]) =>
  marked(text, words)
    .map((piece) => (piece.found ? `[${piece.text}]` : piece.text))
    .join('');

test.each<[string, string[], string]>([
  ['Keep copies for', [], 'Keep copies for'],
  ['Keep copies for', ['cop'], 'Keep [cop]ies for'],
  ['Copy the folder, and copy it', ['copy'], '[Copy] the folder, and [copy] it'],
  ['folders', ['fold', 'folders'], '[folders]'],
  ['What does (a+b)* do?', ['(a+b)*'], 'What does [(a+b)*] do?'],
  ['', ['x'], ''],
])('%s, looked for %j', (text, words, expected) => expect(shown(text, ...words)).toBe(expected));
