// The report of what attention was spent on: of a day without a call, and of one with questions, waits, and quick answers.

import type { AttentionReport } from './bindings';

const MINUTE_MS = 60_000;

/** The report of a day on which no agent asked for anything. */
export const quietDay: AttentionReport = {
  since: 0,
  until: 0,
  calls: 0,
  hours: 0,
  questions: {
    total: 0,
    per_hour: 0,
    answered: 0,
    waiting: 0,
    waited_ms: 0,
    median_ms: 0,
    longest_ms: 0,
    unknown_waits: 0,
    by_cause: [],
    by_tool: [],
  },
  quick: { total: 0, latest: [] },
  rule: null,
  unasked: {
    total: 0,
    not_needed: 0,
    secured: 0,
    captured: 0,
    snapshot: 0,
    unsecured: 0,
    unknown: 0,
    undoable: 0,
    latest: [],
  },
};

/** The report of a day with five questions, of which the call `call` of `session` was answered at once. */
export function busyDay(session: string, call: string, at: number): AttentionReport {
  return {
    ...quietDay,
    since: at - 60 * MINUTE_MS,
    until: at + MINUTE_MS,
    calls: 31,
    hours: 2,
    questions: {
      total: 5,
      per_hour: 2.5,
      answered: 4,
      waiting: 1,
      waited_ms: 12 * MINUTE_MS,
      median_ms: 14_000,
      longest_ms: 9 * MINUTE_MS,
      unknown_waits: 1,
      by_cause: [
        { cause: 'mode', questions: 4, waited_ms: 11 * MINUTE_MS },
        { cause: 'runs_later', questions: 1, waited_ms: MINUTE_MS },
      ],
      by_tool: [
        { tool: 'bash', program: 'npm', questions: 4, waited_ms: 11 * MINUTE_MS },
        { tool: 'write', program: null, questions: 1, waited_ms: MINUTE_MS },
      ],
    },
    quick: {
      total: 1,
      latest: [{ session, call, at, after_ms: 340, tool: 'bash', target: 'npm test', person: 'allowed' }],
    },
    rule: {
      rule: {
        permission: 'bash',
        pattern: 'npm test*',
        action: 'allow',
        reason: null,
        matches: [],
        not_matches: [],
        expires_ms: null,
        max_uses: null,
      },
      allowed: 3,
      rejected: 0,
      examples: [],
      counter_examples: [],
    },
    unasked: {
      ...quietDay.unasked,
      total: 26,
      not_needed: 20,
      secured: 5,
      unsecured: 1,
      undoable: 1,
      latest: [
        {
          id: 'und_1',
          session,
          call,
          at,
          workspace: '/home/mira/code/site',
          title: 'Wrote notes.md',
          paths: 1,
          bytes: 12,
          shown: ['notes.md'],
          state: 'applied',
        },
      ],
    },
  };
}
