// What an undo entry keeps of the files it changes. Pure.

import type { UndoEntry } from '../../ipc/bindings';
import { bytes, plural } from '../../widgets/figures';
import { msg } from '../../widgets/msg';

/** Tells whether the change made a file where there was none: then nothing had to be kept. */
export function isNewFile({ title, bytes: kept }: UndoEntry): boolean {
  return kept === 0 && /^(created|wrote)\b/i.test(title);
}

/** Describes what is kept: "1 path, 4.1 kB", or that the file was new. */
export function keptWords(entry: UndoEntry): string {
  if (isNewFile(entry)) return msg('new file');
  return `${plural(entry.paths, ['# path', '# paths'])}, ${bytes(entry.bytes)}`;
}
