import { describe, expect, it } from 'vitest';
import table from '../../../tests/cases/partial_results.json?raw';
import type { Content } from '../ipc/bindings';
import { inWords } from './fold';

interface Case {
  content: Content[];
  words: string;
}

describe('a piece of a result in words', () => {
  // S001-12: by the table that the engine's own test reads.
  it.each(JSON.parse(table) as Case[])('$words', ({ content, words }) => {
    expect(inWords(content)).toBe(words);
  });
});
