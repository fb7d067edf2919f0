// Chooses the screen when the page has just been loaded. Pure.

import type { EngineView, Event } from '../ipc/bindings';
import type { View } from './view';

/**
 * The first screen: what was looked at before the page was loaded anew, if that is still there; else the Desk if calls of
 * several sessions wait, else the session that waits, else the one that runs and changed last, else the start.
 */
export function openingView({ sessions, desk }: Pick<EngineView, 'sessions' | 'desk'>, kept: View | null = null): View {
  if (kept && (kept.screen !== 'session' || sessions.some(({ id }) => id === kept.session))) return kept;
  const waits = new Set(desk.map((entry) => entry.session));
  if (waits.size > 1) return { screen: 'desk' };
  const [alone] = waits;
  if (alone !== undefined) return { screen: 'session', session: alone };
  const busy = sessions.filter(({ state }) => state === 'running' || state === 'waiting');
  const last = busy.sort((one, other) => other.changed_at - one.changed_at)[0];
  return last ? { screen: 'session', session: last.id } : { screen: 'start' };
}

/** Returns the session that somebody else began while the start was open, such as `--demo`; none otherwise. */
export function openedOutside(view: View, events: readonly Event[]): string | null {
  if (view.screen !== 'start') return null;
  return events.findLast(({ body }) => body.type === 'session_opened')?.session ?? null;
}
