// The list of sessions in groups: the pinned ones, the others, by folder if wished, and the archive. Pure.

import type { SessionView } from '../ipc/bindings';
import { ancestors, isActive, sessionList, type Line } from './sub_agents';

/** How the list is shown. */
export interface ListView {
  /** Words that a session's title, folder, or answerer has to contain; empty for all. */
  filter: string;
  byFolder: boolean;
  /** Whether the archive is shown. */
  archive: boolean;
}

/** A group of the list. */
export interface Group {
  /** What identifies it among the others. */
  id: string;
  /** Its heading; none where the list is one group. */
  title: string | null;
  /** Folder of its sessions, absolute, if they are grouped by it. */
  folder?: string;
  lines: Line[];
}

/** Returns the sessions that stand in the archive: those that do something stay with the others. */
export function archivedSessions(sessions: readonly SessionView[]): SessionView[] {
  return sessions.filter((session) => session.place === 'archived' && !isActive(session));
}

/** Returns the list in groups, without empty ones. `open` is the session on the screen, which is listed unless the filter leaves it out. */
export function groupSessions(
  sessions: readonly SessionView[],
  open: string | null,
  view: ListView,
  describe: (session: SessionView) => string,
): Group[] {
  const words = view.filter.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (session: SessionView): boolean => {
    const text = describe(session).toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const archive = new Set(archivedSessions(sessions).map(({ id }) => id));
  const isFound = words.length > 0;
  const above = new Set(open === null || isFound ? [] : ancestors(sessions, open).map(({ id }) => id));
  const groups = new Map<string, { group: Omit<Group, 'lines'>; members: SessionView[] }>();
  const put = (group: Omit<Group, 'lines'>, session: SessionView): void => {
    const known = groups.get(group.id);
    if (known) known.members.push(session);
    else groups.set(group.id, { group, members: [session] });
  };
  for (const session of sessions) {
    if (!fits(session) && !above.has(session.id)) continue;
    // A session that works for another stands below it.
    const top = ancestors(sessions, session.id)[0] ?? session;
    const isArchived = archive.has(top.id);
    if (isArchived && !view.archive && !isFound && !above.has(session.id)) continue;
    if (isArchived) put({ id: 'archived', title: 'Archived' }, session);
    else if (top.place === 'pinned') put({ id: 'pinned', title: 'Pinned' }, session);
    else if (view.byFolder)
      put({ id: `folder:${top.workspace}`, title: top.workspace, folder: top.workspace }, session);
    else put({ id: 'recent', title: 'Recent' }, session);
  }
  const rank = (id: string): number => (id === 'pinned' ? 0 : id === 'archived' ? 2 : 1);
  const sorted = [...groups.values()].sort((one, other) => rank(one.group.id) - rank(other.group.id));
  const isOnly = sorted.length === 1 && sorted[0]?.group.id === 'recent';
  return sorted.map(({ group, members }) => ({
    ...group,
    title: isOnly ? null : group.title,
    lines: sessionList(members, open),
  }));
}
