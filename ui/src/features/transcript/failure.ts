// What a person can do about a turn that failed, read from what was told of it. Pure.

import type { SessionView, UserError } from '../../ipc/bindings';

/** An act that leads on from a failure. */
export type WayOn = 'enter-key' | 'change-key' | 'provider' | 'new-session' | 'again';

/** The words of each act. */
export const wayWords: Record<WayOn, string> = {
  'enter-key': 'Enter a key…',
  'change-key': 'Change key…',
  provider: 'Open its settings…',
  'new-session': 'New session…',
  again: 'Try again',
};

/** Causes by the engine's words for them, each with the acts that help; the first that fits counts. */
const causes: readonly { words: RegExp; ways: readonly WayOn[] }[] = [
  { words: /\brefused the key\b/, ways: ['change-key', 'again'] },
  { words: /\bneeds a key, and none was found\b/, ways: ['enter-key', 'again'] },
  // A session keeps its model for life.
  { words: /\bdoes not know the model\b/, ways: ['new-session'] },
  { words: /\bcredits?\b|\bquota\b|\bbilling\b|\bpayment\b|\(402\b/i, ways: ['change-key', 'again'] },
  { words: /\bis not set up:/, ways: ['provider', 'again'] },
];

/** Where a failure stands. */
export interface FailureSituation {
  session: SessionView | undefined;
  /** Whether it is the last entry of its session: an earlier one was dealt with. */
  last: boolean;
  /** Whether the session's model is of a provider that stands in the settings. */
  known: boolean;
}

/** Returns what leads on from a failure; nothing where it is over, or the session works again. */
export function waysOn(fault: UserError, { session, last, known }: FailureSituation): readonly WayOn[] {
  if (!session || session.state !== 'failed' || !last) return [];
  const ways = causes.find(({ words }) => words.test(fault.message))?.ways ?? ['again'];
  return known ? ways : ways.filter((way) => way === 'again');
}
