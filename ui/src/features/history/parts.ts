// What the history hands to the feature that draws a difference, in its own words; App.svelte passes that component in.

import type { DiffLayout } from '../../ipc/bindings/DiffLayout';
import type { FileDiff } from '../../ipc/bindings/FileDiff';

/** A difference in which nothing is chosen. */
export interface DiffArgs {
  files: readonly FileDiff[];
  layout: DiffLayout;
  pick: { all: number; ids: number[]; left: number[]; added: number; removed: number };
  onput: null;
  onlayout: null;
  lines: null;
}

/** A file's difference, to be looked at. */
export function plainDiff(file: FileDiff): DiffArgs {
  const ids = file.hunks.map(({ id }) => id);
  return {
    files: [file],
    layout: 'unified',
    pick: { all: ids.length, ids, left: [], added: file.added, removed: file.removed },
    onput: null,
    onlayout: null,
    lines: null,
  };
}
