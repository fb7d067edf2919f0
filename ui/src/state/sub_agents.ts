// Sub-agents: which session works for which call, and which are at work. Pure.

import type { Entry, SessionView } from '../ipc/bindings';

/** Maximum depth of sessions that work for each other; anything deeper is a cycle. */
const DEEP_MAX = 16;

/** A session and those that it works for, the outermost first; only it where nobody is known. */
export function ancestors(sessions: readonly SessionView[], id: string): SessionView[] {
  const line: SessionView[] = [];
  let at: string | undefined = id;
  while (at !== undefined && line.length < DEEP_MAX) {
    const session: SessionView | undefined = sessions.find((one) => one.id === at);
    if (!session) break;
    line.unshift(session);
    at = session.parent?.session;
  }
  return line;
}

/** The ids of a session and of all that work for it, at any depth. */
export function withDescendants(sessions: readonly SessionView[], id: string): ReadonlySet<string> {
  const all = new Set([id]);
  for (let deep = 0, before = 0; before !== all.size && deep < DEEP_MAX; deep += 1) {
    before = all.size;
    for (const { id: one, parent } of sessions) if (parent && all.has(parent.session)) all.add(one);
  }
  return all;
}

/** The sessions that work for calls of a session, by the calls, the first to begin first. */
export function tasksByCall(sessions: readonly SessionView[], id: string): ReadonlyMap<string, readonly SessionView[]> {
  const out = new Map<string, SessionView[]>();
  const own = sessions
    .filter(({ parent }) => parent?.session === id)
    .sort((one, other) => one.opened_at - other.opened_at);
  for (const session of own) {
    const call = session.parent?.call ?? '';
    out.set(call, [...(out.get(call) ?? []), session]);
  }
  return out;
}

/** Tells whether a session does something or waits for somebody. */
export const isActive = (session: SessionView): boolean =>
  session.waiting > 0 || session.state === 'running' || session.state === 'waiting';

/** One line of the list of sessions. */
export interface Line {
  session: SessionView;
  /** How many stand above it. */
  depth: number;
}

/** Returns the sessions as a list: below each the ones at work for it, and the open one with those above it. */
export function sessionList(sessions: readonly SessionView[], open: string | null): Line[] {
  const known = new Set(sessions.map((session) => session.id));
  const above = new Set(open === null ? [] : ancestors(sessions, open).map((session) => session.id));
  const below = new Map<string, SessionView[]>();
  const tops: SessionView[] = [];
  for (const session of sessions) {
    const parent = session.parent?.session;
    if (parent === undefined || !known.has(parent)) tops.push(session);
    else below.set(parent, [...(below.get(parent) ?? []), session]);
  }
  const out: Line[] = [];
  const add = (session: SessionView, depth: number): boolean => {
    const at = out.length;
    out.push({ session, depth });
    const children = (depth < DEEP_MAX ? (below.get(session.id) ?? []) : []).toReversed();
    const busy = children.map((one) => add(one, depth + 1)).some(Boolean);
    const stays = depth === 0 || busy || isActive(session) || above.has(session.id);
    if (!stays) out.splice(at);
    return stays && depth > 0;
  };
  for (const session of tops) add(session, 0);
  return out;
}

/** The last entry of a session about which more is to be heard; nothing while it does nothing. */
export function currentStep(live: ReadonlyMap<string, Entry>, session: string): Entry | undefined {
  let last: Entry | undefined;
  for (const entry of live.values()) if (entry.session === session && (!last || entry.seq > last.seq)) last = entry;
  return last;
}
