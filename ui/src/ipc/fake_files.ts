// The files of a folder as a message names them: by the letters typed after `@`, or dropped onto the box.

import type { DroppedFile } from './bindings';

/** A file of every folder. */
export interface FakeFile {
  path: string;
  bytes: number;
  modified: number;
}

/** Returns the paths that have a text in them. */
export function namesWith(files: readonly FakeFile[], text: string, limit: number): string[] {
  const fitting = files.map(({ path }) => path).filter((path) => path.includes(text));
  return fitting.slice(0, limit);
}

/** Returns the paths of the files that a dropped one may be. */
export function pathsOf(files: readonly FakeFile[], { name, bytes, modified }: DroppedFile): string[] {
  const same = files.filter((file) => file.bytes === bytes && file.modified === modified);
  return same.map(({ path }) => path).filter((path) => path === name || path.endsWith(`/${name}`));
}
