// What an undo entry keeps of the files it changes. Pure.

import type { UndoEntry } from '../../ipc/bindings';
import { bytes, plural } from '../../widgets/figures';
import { msg } from '../../widgets/msg';

/** Describes what is kept: "1 path, 4.1 kB". No content is kept of a file that was new, or that was empty before. */
export function keptWords({ paths, bytes: kept }: UndoEntry): string {
  const content = kept === 0 ? msg('new or empty before') : bytes(kept);
  return `${plural(paths, ['# path', '# paths'])}, ${content}`;
}
