// The history as it is read: the newest first, neighbours of one session and one day together.

import type { UndoEntry } from '../../ipc/bindings';

/** Neighbours that belong together. */
export interface Group {
  key: string;
  session: string;
  entries: UndoEntry[];
}

/** Groups neighbours of the same session and day; the order of the entries stays. */
export function groupsOf(entries: readonly UndoEntry[]): Group[] {
  const groups: Group[] = [];
  for (const entry of entries) {
    const last = groups.at(-1);
    const before = last?.entries.at(-1);
    if (
      last &&
      before &&
      last.session === entry.session &&
      new Date(before.at).toDateString() === new Date(entry.at).toDateString()
    )
      last.entries.push(entry);
    else groups.push({ key: entry.id, session: entry.session, entries: [entry] });
  }
  return groups;
}
