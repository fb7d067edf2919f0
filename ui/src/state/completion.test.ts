// The table that the engine's own test reads (S000-42).
import { describe, expect, it } from 'vitest';
import table from '../../../tests/cases/completion.json?raw';
import type { Completion } from './completion';
import { completionOf, isTerminal, modelText, statusOf } from './completion';

interface Case {
  id: string;
  result: Completion;
  terminal: boolean;
  status: string;
}

const outcome = {
  state: 'done',
  text: '',
  message: '',
  duration_ms: 0,
  needs_followup: false,
  terminal: false,
  digest: '',
} as const;

describe('completion', () => {
  it.each(JSON.parse(table) as Case[])('$id $result', ({ result, terminal, status }) => {
    expect(isTerminal(result)).toBe(terminal);
    expect(statusOf(result)).toBe(status);
  });

  it('is the same of an outcome', () => {
    expect(isTerminal(completionOf(outcome))).toBe(false);
    expect(isTerminal(completionOf({ ...outcome, state: 'failed' }))).toBe(true);
    expect(isTerminal(completionOf({ ...outcome, state: 'failed', needs_followup: true }))).toBe(false);
  });

  it('keeps what the model read apart from the output', () => {
    expect(modelText({ ...outcome, text: 'a', notes: ['b'] })).toBe('a\n\nb');
    expect(
      modelText({ ...outcome, empty: 'Nothing.', content: [{ type: 'resource', uri: 'file:///x', title: 'X' }] }),
    ).toBe('Nothing.\n\n[See X: file:///x]');
  });
});
