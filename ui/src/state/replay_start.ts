// Finds the position from which events must be heard, so that all entries under way are known.

import type { EngineView } from '../ipc/bindings';
import type { Host } from '../ipc/desk';
import { isLive } from './fold';
import { entryKey } from './reduce';

/** How far back entries that are under way are looked for. */
const UNDER_WAY_ENTRIES = 50;

/** The position right before the oldest entry that is under way: from there on all of it can be heard. */
export async function replayStart(host: Host, snapshot: EngineView): Promise<number> {
  const busy = snapshot.sessions.filter(({ state }) => state === 'running' || state === 'waiting');
  const answers = await Promise.all(
    busy.map(({ id }) => host.query({ type: 'transcript', session: id, before: null, limit: UNDER_WAY_ENTRIES })),
  );
  const live = answers.flatMap(({ entries }) => entries).filter((entry) => isLive(entry) && entry.seq <= snapshot.seq);
  const told = new Set(snapshot.desk.map(entryKey));
  const open = live.filter((entry) => !told.has(entryKey(entry)));
  return Math.min(snapshot.seq, ...open.map((entry) => entry.seq - 1));
}
