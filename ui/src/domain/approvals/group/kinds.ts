// Which waiting calls are one question: the same tool, asked for the same reason, on the same place. Pure.

import type { CallView } from '../../../ipc/bindings';
import { openAsk } from '../../../state/calls';
import { entryKey, type CallEntry } from '../../../state/desk.svelte';
import { folderOf, mustHold } from '../words';

/** So many calls of one kind are asked about at once; fewer are answered one by one as quickly. */
const GROUP_MIN = 3;

/** Returns what two calls must have in common to be asked about at once; none where a call is asked about alone. */
function kindOf(view: CallView): string | null {
  const { pending, preview, trail } = view;
  if (pending === null || pending.refreshed !== null || view.edited !== null) return null;
  if (openAsk(view) !== null || mustHold(view)) return null;
  const place = placeOf(preview, view.target);
  if (place === null) return null;
  const grants = pending.grants.filter(({ reach }) => reach !== 'always');
  return JSON.stringify([view.tool, view.mode, trail?.lead, view.undo_availability, grants, place]);
}

/** Returns where a call acts: the folder of its file, or the folder and the first word of each program of a command. */
function placeOf(preview: CallView['preview'], target: string): readonly string[] | null {
  if (preview.type === 'diff') return preview.files.length === 1 ? [folderOf(target)] : null;
  if (preview.type !== 'command') return null;
  return [preview.folder, ...preview.facts.map(({ what, text }) => `${what} ${text.split(' ')[0]}`)];
}

/** Calls that stand on one card; a single one stands on its own. */
export type WaitingGroup = readonly [CallEntry, ...CallEntry[]];

/** Returns the calls by the cards on which they stand, each group at the place of its first. The calls `apart` stand alone. */
export function groupsOf(waiting: readonly CallEntry[], apart: ReadonlySet<string>): WaitingGroup[] {
  const kinds = new Map<string, [CallEntry, ...CallEntry[]]>();
  const groups: [CallEntry, ...CallEntry[]][] = [];
  for (const entry of waiting) {
    const kind = apart.has(entryKey(entry)) ? null : kindOf(entry.body);
    const group = kind === null ? undefined : kinds.get(kind);
    if (group) {
      group.push(entry);
      continue;
    }
    const fresh: [CallEntry, ...CallEntry[]] = [entry];
    groups.push(fresh);
    if (kind !== null) kinds.set(kind, fresh);
  }
  return groups.flatMap((group) => (group.length < GROUP_MIN ? group.map((entry): WaitingGroup => [entry]) : [group]));
}
