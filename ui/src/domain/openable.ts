// The files of a call that can be opened in an editor. Pure.

import type { CallView, FileDiff } from '../ipc/bindings';

/** A file of a workspace, and the line to go to, from 1. */
export interface OpenableFile {
  /** Path relative to the workspace root. */
  path: string;
  line?: number;
}

/** The most files that are offered for one call. */
const FILES_MAX = 8;

/** Returns the files that a call reads or changes, as far as they are there afterwards. */
export function openableFiles({ kind, target, preview }: CallView): OpenableFile[] {
  if (preview.type === 'diff') return changed(preview.files);
  if (preview.type === 'effects') return changed(preview.effects.changes.flatMap(({ diff }) => diff ?? []));
  return kind === 'read' || kind === 'edit' ? [{ path: target }] : [];
}

function changed(files: readonly FileDiff[]): OpenableFile[] {
  return files
    .filter(({ gone }) => gone !== true)
    .slice(0, FILES_MAX)
    .map(({ path, hunks: [first] }) => (first ? { path, line: first.new_start } : { path }));
}
