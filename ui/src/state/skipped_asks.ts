// Asks that a session skips for a while: whether, how long still, and for how long they can be. Pure.

import type { Op, SessionView } from '../ipc/bindings';

/** Beginning of the ids of the choices. */
const SKIP = 'skip-';

/** A choice of a menu. */
interface SkipItem {
  id: string;
  text: string;
  hint?: string;
}

/** For how long asks can be skipped, as choices of a menu; `whole` is the longest one. */
export const skipItems = (whole: string): readonly SkipItem[] => [
  {
    id: `${SKIP}5`,
    text: 'Skip asks for 5 minutes',
    hint: 'What cannot be undone, runs later or gives a secret away still asks, as do your rules that ask.',
  },
  { id: `${SKIP}15`, text: 'Skip asks for 15 minutes' },
  { id: `${SKIP}60`, text: 'Skip asks for an hour' },
  { id: `${SKIP}whole`, text: whole },
];

/** The request that a choice stands for, in a session or in every one; none for a choice of something else. */
export function skipOp(session: string | null, id: string): Op | null {
  if (!id.startsWith(SKIP)) return null;
  const time = id.slice(SKIP.length);
  return { type: 'skip_asks', session, minutes: time === 'whole' ? null : Number(time) };
}

/** Tells whether a session skips asks now. */
export function skipsAsks({ skipped_asks: skipped }: SessionView, now: number): boolean {
  return skipped !== undefined && (skipped.until === null || skipped.until > now);
}

/** How long a session still skips asks: `14:32`, or in words where that is not a time. */
export function timeLeft({ skipped_asks: skipped }: SessionView, now: number): string {
  if (!skipped || skipped.until === null) return 'until the session is closed';
  const seconds = Math.max(0, Math.ceil((skipped.until - now) / 1_000));
  const [minutes, rest] = [Math.floor(seconds / 60), String(seconds % 60).padStart(2, '0')];
  return minutes < 60
    ? `${minutes}:${rest} left`
    : `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${rest} left`;
}
