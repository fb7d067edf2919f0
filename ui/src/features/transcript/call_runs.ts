// Runs of quiet calls, folded to one line each. Pure.

import type { CallState, ToolKind } from '../../ipc/bindings';
import type { CallEntry } from '../../state/fold';
import { plural } from '../../widgets/figures';
import type { Row } from './rows';

/** States of calls that ended and about which nothing has to be known. */
const QUIET: ReadonlySet<CallState> = new Set<CallState>(['done', 'skipped', 'undone']);

const kinds: Record<ToolKind, (many: number) => string> = {
  read: (many) => plural(many, ['# read', '# reads']),
  edit: (many) => plural(many, ['# edit', '# edits']),
  delete: (many) => plural(many, ['# deletion', '# deletions']),
  move: (many) => plural(many, ['# move', '# moves']),
  search: (many) => plural(many, ['# search', '# searches']),
  execute: (many) => plural(many, ['# command', '# commands']),
  think: (many) => plural(many, ['# thought', '# thoughts']),
  fetch: (many) => plural(many, ['# request', '# requests']),
  other: (many) => plural(many, ['# other', '# others']),
};

/**
 * The rows with every run of at least two quiet calls as one row, and its calls below it where it is unfolded: where
 * `unfolded` holds the id of one of them.
 */
export function foldRuns(rows: readonly Row[], unfolded: ReadonlySet<string>): Row[] {
  const out: Row[] = [];
  for (let at = 0; at < rows.length;) {
    const run = runAt(rows, at);
    if (run.length < 2) {
      out.push(rows[at] as Row);
      at += 1;
      continue;
    }
    const members = run.map(({ entry }) => entry);
    const open = members.some(({ id }) => unfolded.has(id));
    out.push({ kind: 'run', key: `run-${members[0]?.id}`, members, open, first: true, last: true });
    if (open) out.push(...run);
    at += run.length;
  }
  return out.map((row, at) =>
    isListed(row) ? { ...row, first: !isListed(out[at - 1]), last: !isListed(out[at + 1]) } : row,
  );
}

/** What a run is made of: "12 calls: 9 reads, 3 commands". */
export function runWords(members: readonly CallEntry[]): string {
  const counts = new Map<ToolKind, number>();
  for (const { body } of members) counts.set(body.kind, (counts.get(body.kind) ?? 0) + 1);
  // The most first; what has no word of its own last.
  const rank = ([kind, count]: [ToolKind, number]): number => (kind === 'other' ? 0 : count);
  const parts = [...counts].sort((one, other) => rank(other) - rank(one));
  const words = parts.map(([kind, count]) => kinds[kind](count));
  return `${plural(members.length, ['# call', '# calls'])}: ${words.join(', ')}`;
}

type LineRow = Extract<Row, { kind: 'line' }>;

/** The lines of quiet calls from a row on; empty where it is none. */
function runAt(rows: readonly Row[], at: number): LineRow[] {
  const out: LineRow[] = [];
  for (let row = rows[at]; row?.kind === 'line' && QUIET.has(row.entry.body.state); row = rows[at + out.length])
    out.push(row);
  return out;
}

/** Whether a row is an item of a list of lines. */
function isListed(row: Row | undefined): row is Extract<Row, { kind: 'line' | 'run' }> {
  return row?.kind === 'line' || row?.kind === 'run';
}
