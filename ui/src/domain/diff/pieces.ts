// A line as it is drawn: the changes within it and its syntax colours, cut so that neither hides the other.

import type { DiffLine } from '../../ipc/bindings';
import type { Range } from '../../widgets/code/highlight';
import { cutAtColours, type Piece } from '../../widgets/code/pieces';

/** Neighbouring pieces that are all changed within the line, or all not. */
export interface Run {
  changed: boolean;
  pieces: Piece[];
}

/** The runs of a line, in order. Their texts joined are the line. */
export function runsOf(line: DiffLine, ranges: readonly Range[]): Run[] {
  const out: Run[] = [];
  let at = 0;
  for (const part of line.parts) {
    const changed = part.changed === true;
    const last = out.at(-1);
    const pieces = cutAtColours(part, at, ranges);
    if (last?.changed === changed) last.pieces.push(...pieces);
    else out.push({ changed, pieces });
    at += part.text.length;
  }
  return out;
}
