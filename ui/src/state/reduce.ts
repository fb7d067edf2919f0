// The state of the interface as a pure function of the snapshot, the pages that were loaded, and the events since.

import type { EngineView, Entry, Event, ProviderView, SessionView, Settings, UserError } from '../ipc/bindings';
import { isTrial, openAsk, isDryRunning } from './calls';
import { beginEntry, changeEntry, entryId, isCall, isLive, sessionAfter, type CallEntry } from './fold';

/** A stretch of a transcript, oldest first. */
export interface Page {
  entries: readonly Entry[];
  /** Whether older entries exist that are not here. */
  older: boolean;
  /** Whether newer entries exist that are not here: new ones are then not appended. */
  newer: boolean;
  /** The position of the last entry that was not appended for that reason. */
  passed: number;
}

/** Everything that is shown. Never changed in place. */
export interface State {
  /** The last event that this includes. */
  seq: number;
  /**
   * Position of the last event received. Before `seq`: the events between are in the snapshot, but not yet in `live`.
   */
  heard: number;
  /** A session never moves in the list; a new one comes first. */
  sessions: readonly SessionView[];
  /** Calls that wait, oldest first, of every session. */
  desk: readonly CallEntry[];
  /** Entries about which more is to be heard, by session and id; for these the fold is ahead of any page. */
  live: ReadonlyMap<string, Entry>;
  /** Transcripts that are open, by session. */
  pages: ReadonlyMap<string, Page>;
  /** Events of a session since a stretch of its transcript was asked for: an answer may be older than they are. */
  meanwhile: ReadonlyMap<string, readonly Event[]>;
  /** Sessions of which an event came for an entry that began before the snapshot, each with the last such event: to be asked for anew. */
  stale: ReadonlyMap<string, number>;
  /** Why the transcript of a session could not be loaded, by session. */
  unloaded: ReadonlyMap<string, UserError>;
  settings: Settings;
  providers: readonly ProviderView[];
  faults: readonly UserError[];
  settingsFile: string;
  version: string;
  home: string;
}

/** The key of an entry among all sessions: the agents of two may give their calls the same ids. */
export function entryKey({ session, id }: Pick<Entry, 'session' | 'id'>): string {
  return `${session} ${id}`;
}

/** The state right after a snapshot, to be followed by every event after `heard`. */
export function fromSnapshot(snapshot: EngineView, heard = snapshot.seq): State {
  const desk = snapshot.desk.filter(isCall);
  return {
    seq: snapshot.seq,
    heard,
    sessions: snapshot.sessions,
    desk: [...desk].sort(oldestWaitFirst),
    live: new Map(desk.map((entry) => [entryKey(entry), entry])),
    pages: new Map(),
    meanwhile: new Map(),
    stale: new Map(),
    unloaded: new Map(),
    settings: snapshot.settings,
    providers: snapshot.providers,
    faults: snapshot.faults,
    settingsFile: snapshot.settings_file,
    version: snapshot.version,
    home: snapshot.home,
  };
}

/** The state after some events, in order. Events that it already includes change nothing. */
export function reduce(state: State, events: readonly Event[]): State {
  const early = events.filter((event) => event.seq > state.heard && event.seq <= state.seq);
  if (early.length > 0) return reduce(primed(state, early), events);
  const fresh = events.filter((event) => event.seq > state.seq);
  if (fresh.length === 0) return state;
  const draft: Draft = {
    sessions: new Map(state.sessions.map((session) => [session.id, session])),
    live: new Map(state.live),
    waiting: new Map(state.desk.map((entry) => [entryKey(entry), entry])),
    pages: new Map(state.pages),
    owned: new Set(),
    stale: new Map(state.stale),
  };
  for (const event of fresh) apply(draft, event);
  const meanwhile =
    state.meanwhile.size === 0
      ? state.meanwhile
      : new Map(
          [...state.meanwhile].map(([id, heard]) => [id, [...heard, ...fresh.filter((event) => event.session === id)]]),
        );
  return {
    ...state,
    meanwhile,
    seq: fresh.at(-1)?.seq ?? state.seq,
    heard: fresh.at(-1)?.seq ?? state.seq,
    sessions: newFirst(state.sessions, draft.sessions),
    desk: waitingList(state.desk, draft.waiting.values()),
    live: draft.live,
    pages: draft.pages,
    stale: draft.stale,
  };
}

/** The calls that wait, oldest first: the same list as before while none came, went or changed. */
function waitingList(before: readonly CallEntry[], waiting: Iterable<CallEntry>): readonly CallEntry[] {
  const after = [...waiting].sort(oldestWaitFirst);
  const isSame = after.length === before.length && after.every((entry, i) => entry === before[i]);
  return isSame ? before : after;
}

/** The state with the entries that were under way when the snapshot was taken, folded from their beginning. */
function primed(state: State, early: readonly Event[]): State {
  const live = new Map(state.live);
  const known = new Set(state.live.keys());
  for (const event of early) {
    const id = entryId(event);
    if (id === null) continue;
    const key = entryKey({ session: event.session, id });
    const before = live.get(key);
    const entry = beginEntry(event) ?? (before && changeEntry(before, event));
    // A waiting call was told whole by the snapshot.
    if (!entry || (known.has(key) && before?.body.type === 'call' && before.body.state === 'waiting')) continue;
    if (isLive(entry)) live.set(key, entry);
    else live.delete(key);
  }
  return { ...state, live, heard: early.at(-1)?.seq ?? state.heard };
}

/** A stretch of a transcript as it was loaded. */
export interface Stretch {
  /** Oldest first. */
  entries: readonly Entry[];
  /** Whether there are more in the direction asked. */
  more: boolean;
  /** The last event that they include. */
  seq: number;
}

/** Returns the state that keeps the events of a session until a requested stretch has come. */
export function withLoading(state: State, session: string): State {
  if (state.meanwhile.has(session) && !state.unloaded.has(session)) return state;
  const meanwhile = state.meanwhile.has(session) ? state.meanwhile : new Map(state.meanwhile).set(session, []);
  return { ...state, meanwhile, unloaded: without(state.unloaded, session) };
}

/** The state once no stretch of a session is waited for any more. */
export function withLoaded(state: State, session: string): State {
  return { ...state, meanwhile: without(state.meanwhile, session) };
}

/** The state after a stretch of a session could not be loaded. */
export function withFailure(state: State, session: string, fault: UserError): State {
  return { ...state, unloaded: new Map(state.unloaded).set(session, fault) };
}

function without<Value>(map: ReadonlyMap<string, Value>, key: string): ReadonlyMap<string, Value> {
  if (!map.has(key)) return map;
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}

/** The state with loaded stretches of a transcript, one after the other, joined to the page at its `side`, or in its place. */
export function withPage(
  state: State,
  session: string,
  loaded: readonly Stretch[],
  side: 'older' | 'newer' | 'instead',
  rest: { older: boolean; newer: boolean } = { older: true, newer: false },
): State {
  const before = state.pages.get(session);
  const more = loaded.some((stretch) => stretch.more);
  const end = side === 'instead' ? !rest.newer : side === 'newer' && !more;
  const entries = loaded.flatMap((stretch, at) => caughtUp(state, session, stretch, end && at === loaded.length - 1));
  const pages = new Map(state.pages);
  if (side === 'instead' || !before) {
    pages.set(session, { entries, ...rest, passed: 0 });
  } else {
    const known = new Set(before.entries.map((entry) => entry.id));
    const added = entries.filter((entry) => !known.has(entry.id));
    if (side === 'older') {
      pages.set(session, { ...before, entries: [...added, ...before.entries], older: more });
    } else {
      const joined = [...before.entries, ...added];
      const missed = before.passed > (joined.at(-1)?.seq ?? 0);
      pages.set(session, { ...before, entries: joined, newer: more || missed });
    }
  }
  return { ...state, pages };
}

/**
 * Returns the entries of a stretch with all events since applied; at the `end` of a transcript also those begun since.
 */
function caughtUp(state: State, session: string, stretch: Stretch, end: boolean): Entry[] {
  const entries = new Map(stretch.entries.map((entry) => [entry.id, entry]));
  for (const event of state.meanwhile.get(session) ?? []) {
    const id = event.seq > stretch.seq ? entryId(event) : null;
    if (id === null) continue;
    const start = beginEntry(event);
    const before = entries.get(id);
    if (start && end) entries.set(id, start);
    else if (before) entries.set(id, changeEntry(before, event));
  }
  return [...entries.values()].map((entry) => state.live.get(entryKey(entry)) ?? entry);
}

/** The stale sessions of which a snapshot tells everything that events could not. */
export function healedBy(state: State, snapshot: Pick<EngineView, 'seq'>): string[] {
  return [...state.stale].flatMap(([session, seq]) => (seq <= snapshot.seq ? [session] : []));
}

/**
 * The state with the waiting calls that a newer snapshot has of its stale sessions. A session of which an event came after the
 * snapshot stays stale: the snapshot does not know what became of its calls.
 */
export function healed(state: State, snapshot: EngineView): State {
  const sessions = new Set(healedBy(state, snapshot));
  const live = new Map(state.live);
  for (const entry of snapshot.desk) {
    const key = entryKey(entry);
    if (isCall(entry) && sessions.has(entry.session) && !live.has(key)) live.set(key, entry);
  }
  const desk = waitingList(state.desk, [...live.values()].filter(isCall).filter(standsOnDesk));
  const stale = new Map([...state.stale].filter(([session]) => !sessions.has(session)));
  return { ...state, live, desk, stale };
}

/** The state without the page of a session. */
export function withoutPage(state: State, session: string): State {
  return { ...state, pages: without(state.pages, session) };
}

interface Draft {
  sessions: Map<string, SessionView>;
  live: Map<string, Entry>;
  waiting: Map<string, CallEntry>;
  pages: Map<string, Page>;
  /** Sessions whose page was copied for this batch and may be written to. */
  owned: Set<string>;
  stale: Map<string, number>;
}

function apply(draft: Draft, event: Event): void {
  if (event.body.type === 'session_deleted') {
    forget(draft, event.session);
    return;
  }
  const id = entryId(event);
  if (id !== null) {
    const start = beginEntry(event);
    if (start) write(draft, start, true);
    else change(draft, event, id);
  }
  let waiting = 0;
  for (const entry of draft.waiting.values()) if (entry.session === event.session) waiting += 1;
  const session = sessionAfter(draft.sessions.get(event.session), event, waiting);
  if (session) draft.sessions.set(event.session, session);
}

/** Takes everything of a deleted session out. */
function forget(draft: Draft, session: string): void {
  for (const entries of [draft.live, draft.waiting])
    for (const [key, entry] of entries) if (entry.session === session) entries.delete(key);
  for (const kept of [draft.sessions, draft.pages, draft.stale]) kept.delete(session);
}

function change(draft: Draft, event: Event, id: string): void {
  const before = draft.live.get(entryKey({ session: event.session, id }));
  if (before) {
    write(draft, changeEntry(before, event), false);
    return;
  }
  // A settled call can still be undone and redone: applying that event twice has the same result.
  const settled = draft.pages.get(event.session)?.entries.find((entry) => entry.id === id);
  if (event.body.type === 'undo_applied' || event.body.type === 'redo_applied') {
    if (settled) write(draft, changeEntry(settled, event), false);
    return;
  }
  // It began before the snapshot. A page may include a piece already, so pieces are left out until a stage is complete.
  if (
    event.body.type !== 'agent_said' &&
    event.body.type !== 'call_output' &&
    event.body.type !== 'call_update' &&
    event.body.type !== 'call_progress'
  )
    draft.stale.set(event.session, event.seq);
}

function write(draft: Draft, entry: Entry, begins: boolean): void {
  const key = entryKey(entry);
  if (isLive(entry)) draft.live.set(key, entry);
  else draft.live.delete(key);
  if (isCall(entry) && standsOnDesk(entry)) draft.waiting.set(key, entry);
  else draft.waiting.delete(key);

  const page = draft.pages.get(entry.session);
  if (!page) return;
  const at = page.entries.findLastIndex((other) => other.id === entry.id);
  if (at >= 0) {
    pageToWrite(draft, entry.session, page)[at] = entry;
  } else if (begins && !page.newer) {
    pageToWrite(draft, entry.session, page).push(entry);
  } else if (begins) {
    draft.pages.set(entry.session, { ...page, passed: entry.seq });
  }
}

/** The entries of a page as an array of this batch: copied once, then written to. */
function pageToWrite(draft: Draft, session: string, page: Page): Entry[] {
  if (draft.owned.has(session)) return page.entries as Entry[];
  const entries = [...page.entries];
  draft.pages.set(session, { ...page, entries });
  draft.owned.add(session);
  return entries;
}

/** The sessions in their order, those that were not there before first. */
function newFirst(before: readonly SessionView[], after: ReadonlyMap<string, SessionView>): SessionView[] {
  const all = [...after.values()];
  const kept = before.filter(({ id }) => after.has(id)).length;
  return [...all.slice(kept).reverse(), ...all.slice(0, kept)];
}

/**
 * Tells whether a call stands on the Desk: a dry run stays where it was asked for, and returns there with its effects.
 */
function standsOnDesk({ body }: CallEntry): boolean {
  return body.state === 'waiting' || (isDryRunning(body) && body.decision !== null);
}

const since = ({ at, body }: CallEntry): number =>
  body.decision && isTrial(body.decision.decision) ? at : (openAsk(body)?.at ?? body.pending?.since ?? at);

function oldestWaitFirst(one: CallEntry, other: CallEntry): number {
  return since(one) - since(other) || one.seq - other.seq;
}
