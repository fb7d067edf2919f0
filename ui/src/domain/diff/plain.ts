// A difference in which nothing is chosen. Pure.

import type { FileDiff } from '../../ipc/bindings';
import type { DiffProps } from './parts';

/** Returns a file's difference for reading only. */
export function plainDiff(file: FileDiff): DiffProps {
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
