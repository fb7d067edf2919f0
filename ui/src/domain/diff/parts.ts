// The properties of a difference.

import type { DiffLayout, DisplaySpan, FileDiff } from '../../ipc/bindings';

/** The choice from a change. */
export interface Pick {
  all: number;
  ids: readonly number[];
  left: readonly number[];
  added: number;
  removed: number;
}

/** Asks for lines of the file as it is, from a line on. */
export type AskLines = (path: string, start: number, count: number) => Promise<DisplaySpan[][]>;

/** A difference and the acts on it. */
export interface DiffProps {
  files: readonly FileDiff[];
  layout: DiffLayout;
  /** The chosen hunks. */
  pick: Pick;
  /** Includes hunks or leaves them out; none where nothing can be chosen. */
  onput: ((ids: readonly number[], into: boolean) => void) | null;
  /** Chooses the layout; none where there is no room for two columns. */
  onlayout: ((layout: DiffLayout) => void) | null;
  /** Asks for lines around the change; none where the file has changed since. */
  lines: AskLines | null;
}
