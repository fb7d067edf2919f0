// The undo history as it is read: by session, the newest first.

import type { UndoEntry } from '../../ipc/bindings/UndoEntry';

/** The entries of one session. */
export interface Group {
  session: string;
  entries: UndoEntry[];
}

/** Groups neighbours of the same session; each session stands where its newest entry stands. */
export function groupBySession(entries: readonly UndoEntry[]): Group[] {
  const groups = new Map<string, Group>();
  for (const entry of entries) {
    const group = groups.get(entry.session) ?? { session: entry.session, entries: [] };
    group.entries.push(entry);
    groups.set(entry.session, group);
  }
  return [...groups.values()];
}
