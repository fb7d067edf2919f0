// What the work for one message of the person changed, from what the calls on the page say. Pure.

import type { CallView, Entry, Preview, UndoEntry } from '../../ipc/bindings';
import { isSubAgentTask } from '../../domain/call_looks';
import { isCall } from '../../state/fold';
import { duration, plural } from '../../widgets/figures';

/** The changes that were made after a message, until its work ended. */
export interface Changes {
  /** Number of changed paths; none where a call changed more than it lists. */
  paths: number | null;
  /** Whether every path is that of a file. */
  areFiles: boolean;
  /** Lines that the calls added and removed, together; none where that is not known of all. */
  lines: { added: number; removed: number } | null;
  commands: number;
  /** Whether sub-agents took part: what they changed stands in their own sessions. */
  hasSubAgents: boolean;
  took_ms: number;
  /** What can be undone, in the order in which it was done. */
  undo: readonly UndoEntry[];
}

/**
 * The changes by the id of the last entry of their work: of every message on the page whose work ended and changed
 * something that still stands. `isActive` tells whether the session is at work, `ends` whether the page ends with it.
 */
export function changesByEntry(
  entries: readonly Entry[],
  isActive: boolean,
  ends: boolean,
): ReadonlyMap<string, Changes> {
  const out = new Map<string, Changes>();
  let work: Entry[] | null = null;
  const close = (): void => {
    const last = work?.at(-1);
    const changes = work && changesOf(work);
    if (last && changes) out.set(last.id, changes);
  };
  for (const entry of entries) {
    if (entry.body.type === 'person' && !entry.body.steering) {
      close();
      work = [entry];
    } else work?.push(entry);
  }
  if (ends && !isActive) close();
  return out;
}

/** Changes in words: "3 files changed", "2 commands", "38 s". The lines stand between, in their colours. */
export function changeWords({ paths, areFiles, commands, hasSubAgents, took_ms }: Changes): {
  what: string;
  rest: string;
} {
  const what =
    paths === null
      ? 'Many paths changed'
      : areFiles
        ? plural(paths, ['# file changed', '# files changed'])
        : plural(paths, ['# path changed', '# paths changed']);
  return {
    what,
    rest: [
      commands > 0 && plural(commands, ['# command', '# commands']),
      hasSubAgents && 'without its sub-agents',
      duration(took_ms),
    ]
      .filter(Boolean)
      .join(' · '),
  };
}

function changesOf(work: readonly Entry[]): Changes | null {
  const calls = work.filter(isCall).map(({ body }) => body);
  const changing = calls.filter(({ undo, state }) => undo?.state === 'applied' && state === 'done');
  const undo = changing.flatMap((call) => call.undo ?? []);
  if (undo.length === 0) return null;
  const isListed = undo.every(({ paths, shown }) => paths <= shown.length);
  const lines = changing.map(linesOf);
  const known = lines.filter((one) => one !== null);
  const sum = (of: (one: { added: number; removed: number }) => number) => known.reduce((all, one) => all + of(one), 0);
  return {
    paths: isListed ? new Set(undo.flatMap(({ shown }) => shown)).size : null,
    areFiles: changing.every(({ preview }) => preview.type === 'diff'),
    lines:
      known.length === lines.length
        ? { added: sum(({ added }) => added), removed: sum(({ removed }) => removed) }
        : null,
    commands: calls.filter(({ kind, started_at }) => kind === 'execute' && started_at !== null).length,
    hasSubAgents: calls.some((call) => isSubAgentTask(call) || (call.outcome?.child ?? null) !== null),
    took_ms: Math.max(0, ...work.map(endOf)) - (work[0]?.at ?? 0),
    undo,
  };
}

/** When an entry ended, as far as that is known; else when it began. */
function endOf({ at, body }: Entry): number {
  return body.type === 'call' ? Math.max(at, body.ended_at ?? 0) : at;
}

/** Lines that a call added and removed; none where a person changed what it would do, or not all of it is text. */
function linesOf({ preview, decision, edited }: CallView): { added: number; removed: number } | null {
  const allowed = decision?.decision;
  if (edited !== null || (allowed?.type === 'allow' && allowed.hunks !== null)) return null;
  const files = differencesOf(preview);
  if (files === null) return null;
  return files.reduce((all, { added, removed }) => ({ added: all.added + added, removed: all.removed + removed }), {
    added: 0,
    removed: 0,
  });
}

function differencesOf(preview: Preview): readonly { added: number; removed: number }[] | null {
  if (preview.type === 'diff') return preview.files;
  if (preview.type !== 'effects') return null;
  const all = preview.effects.changes.map(({ diff }) => diff);
  const known = all.filter((diff) => diff !== undefined);
  return known.length === all.length ? known : null;
}
