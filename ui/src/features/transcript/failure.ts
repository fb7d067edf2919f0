// What a person can do about a turn that failed, by its cause. Pure.

import type { FaultCause, SessionView, UserError } from '../../ipc/bindings';

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

/** What helps, by the cause of the failure. A session keeps its model for life. */
const helpful: Record<FaultCause, readonly WayOn[]> = {
  key_refused: ['change-key', 'again'],
  key_missing: ['enter-key', 'again'],
  model_unknown: ['new-session'],
  payment_required: ['change-key', 'again'],
  provider_not_set_up: ['provider', 'again'],
  keychain_unusable: ['enter-key', 'again'],
};

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
  const ways = fault.cause ? helpful[fault.cause] : (['again'] as const);
  return known ? ways : ways.filter((way) => way === 'again');
}
