// Keeps the list of sessions as it is while nothing but the time of their last change moves. Pure.

import type { SessionView } from '../ipc/bindings';

/** By how much a session's time may move before the list says so, in milliseconds. */
const STEP_MS = 5_000;

/**
 * Returns the sessions with the times that they had before, where nothing else changed: a stream moves the time of its
 * session with every piece. The list itself is the one before if no session changed.
 */
export function withSteadyTimes(before: readonly SessionView[], after: readonly SessionView[]): readonly SessionView[] {
  const known = new Map(before.map((session) => [session.id, session]));
  const steady = after.map((session) => {
    const old = known.get(session.id);
    return old && isSteady(old, session) ? old : session;
  });
  const isSame = steady.length === before.length && steady.every((session, i) => session === before[i]);
  return isSame ? before : steady;
}

function isSteady(before: SessionView, after: SessionView): boolean {
  if (before === after) return true;
  if (after.changed_at - before.changed_at >= STEP_MS) return false;
  const names = new Set([...Object.keys(before), ...Object.keys(after)] as (keyof SessionView)[]);
  names.delete('changed_at');
  return [...names].every((name) => before[name] === after[name]);
}
