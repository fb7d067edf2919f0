// From entries to the rows of a transcript: messages, cards, and runs of settled calls as lines of one list.

import type { Entry, SessionView } from '../../ipc/bindings';
import type { WaitingGroup } from '../../domain/approvals/group/kinds';
import type { Changes } from './changes';
import { isCall, type CallEntry } from '../../state/fold';

/** One row of the list. */
export type Row =
  | { kind: 'message'; key: string; entry: Entry }
  | { kind: 'notice'; key: string; entry: Entry }
  | { kind: 'card'; key: string; entry: CallEntry; opened: boolean }
  | { kind: 'group'; key: string; members: WaitingGroup }
  | { kind: 'line'; key: string; entry: CallEntry; first: boolean; last: boolean }
  | { kind: 'run'; key: string; members: readonly CallEntry[]; open: boolean; first: boolean; last: boolean }
  /** Stands below the last row of the work that made them; `entry` is the last of that work. */
  | { kind: 'changes'; key: string; entry: Entry; changes: Changes }
  /** `call` is the one that the session works for, where it has no row of its own. */
  | { kind: 'sub_agent_task'; key: string; session: SessionView; call: CallEntry | null };

/**
 * The rows of a page. `opened` holds the ids of settled calls that the person opened, `tasks` the sessions that work for calls,
 * `groups` the calls that wait, by the cards on which they stand.
 */
export function rowsOf(
  entries: readonly Entry[],
  opened: ReadonlySet<string>,
  tasks: ReadonlyMap<string, readonly SessionView[]> = new Map(),
  groups: readonly WaitingGroup[] = [],
): Row[] {
  const rows: Row[] = [];
  const shared = groups.filter((group) => group.length > 1);
  const groupOf = new Map(shared.flatMap((group) => group.map(({ id }) => [id, group] as const)));
  for (const [i, entry] of entries.entries()) {
    const last = i === entries.length - 1;
    if (isCall(entry)) {
      const members = groupOf.get(entry.id);
      const working = tasks.get(entry.id) ?? [];
      const isOpen = opened.has(entry.id) || staysOpen(entry);
      // Work in one session says all that the line of its call would.
      const joined = members === undefined && !isOpen && working.length === 1;
      if (members === undefined && !joined) addCall(rows, entry, opened.has(entry.id));
      else if (members?.[0].id === entry.id) rows.push({ kind: 'group', key: entry.id, members });
      for (const session of working)
        rows.push({ kind: 'sub_agent_task', key: session.id, session, call: joined ? entry : null });
    } else if (entry.body.type === 'notice') rows.push({ kind: 'notice', key: entry.id, entry });
    else if (says(entry, last)) rows.push({ kind: 'message', key: entry.id, entry });
  }
  return rows;
}

/** The rows, and below the last row of every work what it changed; `changes` holds that by the id of its last entry. */
export function withChanges(
  rows: readonly Row[],
  entries: readonly Entry[],
  changes: ReadonlyMap<string, Changes>,
): Row[] {
  if (changes.size === 0) return [...rows];
  const closing = entries.filter(({ id }) => changes.has(id));
  const out: Row[] = [];
  const close = (before: number): void => {
    for (let last = closing[0]; last && last.seq < before; last = closing[0]) {
      closing.shift();
      const made = changes.get(last.id);
      if (made) out.push({ kind: 'changes', key: `changes-${last.id}`, entry: last, changes: made });
    }
  };
  for (const row of rows) {
    close(seqOf(row) ?? 0);
    out.push(row);
  }
  close(Number.POSITIVE_INFINITY);
  return out;
}

/** Whether an entry of this id stands in a row. */
export function holds(row: Row, id: string): boolean {
  if (row.kind === 'run') return !row.open && row.members.some((member) => member.id === id);
  if (row.kind === 'sub_agent_task') return row.key === id || row.call?.id === id;
  return row.kind === 'group' ? row.members.some((member) => member.id === id) : row.key === id;
}

/** Position of a row's first entry; none for what has none. */
export function seqOf(row: Row): number | null {
  switch (row.kind) {
    case 'group':
      return row.members[0].seq;
    case 'run':
      return row.members[0]?.seq ?? null;
    case 'sub_agent_task':
      return row.call?.seq ?? null;
    case 'changes':
    case 'message':
    case 'notice':
    case 'card':
    case 'line':
      return row.entry.seq;
  }
}

/** Whether a message has something to show; a turn that only made calls has not. */
function says(entry: Entry, last: boolean): boolean {
  if (entry.body.type !== 'agent') return true;
  const { text, reasoning, writing, error } = entry.body;
  return text.trim() !== '' || reasoning.trim() !== '' || error !== null || (writing && last);
}

function addCall(rows: Row[], entry: CallEntry, opened: boolean): void {
  if (opened || staysOpen(entry)) {
    rows.push({ kind: 'card', key: entry.id, entry, opened });
    return;
  }
  const before = rows.at(-1);
  const joins = before?.kind === 'line';
  if (joins) before.last = false;
  rows.push({ kind: 'line', key: entry.id, entry, first: !joins, last: true });
}

/** Tells whether a call stands open by itself: a waiting or failed one, and a running command, for its output. */
function staysOpen(entry: CallEntry): boolean {
  switch (entry.body.state) {
    case 'waiting':
    case 'failed':
      return true;
    case 'running':
      return entry.body.kind === 'execute' || entry.body.tool === 'question';
    case 'proposed':
    case 'done':
    case 'denied':
    case 'rejected':
    case 'expired':
    case 'interrupted':
    case 'skipped':
    case 'undone':
      return false;
  }
}
