// The choice of hunks of a change, and its wording.

import type { Effect, EffectsPreview, FileDiff, Hunk, Preview } from '../../ipc/bindings';
import { list } from '../../widgets/figures';
import { canChoose } from './effects/tree';

/** The choice from a change: of its hunks, or of the paths that a command changed. */
export interface Chosen {
  /** How many there are. */
  all: number;
  /** The chosen ones, in order. */
  ids: number[];
  /** The ones left out, in order. */
  left: number[];
  /** Lines that come and go with the chosen ones. */
  added: number;
  removed: number;
}

/** Every hunk of a change. */
function hunksOf(files: readonly FileDiff[]): Hunk[] {
  return files.flatMap((file) => file.hunks);
}

/** Returns the chosen hunks when some are left out. Ids that no longer exist are ignored. */
export function chosen(files: readonly FileDiff[], leftOut: ReadonlySet<number>): Chosen {
  const all = hunksOf(files);
  const kept = all.filter((hunk) => !leftOut.has(hunk.id));
  return {
    all: all.length,
    ids: kept.map((hunk) => hunk.id),
    left: all.filter((hunk) => leftOut.has(hunk.id)).map((hunk) => hunk.id),
    added: kept.reduce((sum, hunk) => sum + hunk.added, 0),
    removed: kept.reduce((sum, hunk) => sum + hunk.removed, 0),
  };
}

/** Returns the changes that can be chosen: none of a command that its agent runs itself, as a whole. */
function changesOf({ command, effects }: EffectsPreview): Effect[] {
  return command.delegated ? [] : effects.changes.filter(canChoose);
}

/** Returns the ids of the preview's hunks or paths that can be chosen. */
export function idsOf(preview: Preview): number[] {
  if (preview.type === 'effects') return changesOf(preview).map(({ id }) => id);
  return preview.type === 'diff' ? hunksOf(preview.files).map(({ id }) => id) : [];
}

/** Returns the choice from the preview when some are left out. */
export function pickOf(preview: Preview, leftOut: ReadonlySet<number>): Chosen {
  if (preview.type !== 'effects') return chosen(preview.type === 'diff' ? preview.files : [], leftOut);
  const all = changesOf(preview);
  const kept = all.filter(({ id }) => !leftOut.has(id));
  const sum = (member: 'added' | 'removed') => kept.reduce((lines, { diff }) => lines + (diff?.[member] ?? 0), 0);
  return {
    all: all.length,
    ids: kept.map(({ id }) => id),
    left: all.filter(({ id }) => leftOut.has(id)).map(({ id }) => id),
    added: sum('added'),
    removed: sum('removed'),
  };
}

/** Some hunks in, or all of them out. */
export function withHunks(leftOut: ReadonlySet<number>, ids: readonly number[], into: boolean): Set<number> {
  const next = new Set(leftOut);
  for (const id of ids) {
    if (into) next.delete(id);
    else next.add(id);
  }
  return next;
}

/** Returns the ids of the hunks to apply; none where all hunks are applied. */
export function hunksToApply(pick: Chosen): number[] | null {
  return pick.left.length === 0 ? null : pick.ids;
}

/** "hunk 3", "hunks 2 and 3", "hunks 1, 2 and 5": as a person counts them, from 1. */
export function hunkNames(ids: readonly number[]): string {
  const names = ids.map((id) => String(id + 1));
  if (names.length === 0) return 'no hunk';
  return names.length === 1 ? `hunk ${names[0]}` : `hunks ${list(names)}`;
}
