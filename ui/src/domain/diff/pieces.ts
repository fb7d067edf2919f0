// A line as it is drawn: the changes within it and its syntax colours, cut so that neither hides the other.

import type { DiffLine, DiffLinePart } from '../../ipc/bindings';
import type { Ink, Range } from './highlight';

/** A stretch of one look. */
interface Piece {
  text: string;
  ink: Ink | null;
  /** The name of a hidden character. */
  control: boolean;
}

/** Neighbouring pieces that are all changed within the line, or all not. */
export interface Run {
  changed: boolean;
  pieces: Piece[];
}

/** One part cut at the borders of the colours; `at` is where it starts in the line. */
function cut(part: DiffLinePart, at: number, ranges: readonly Range[]): Piece[] {
  if (part.control) return [{ text: part.text, ink: null, control: true }];
  const out: Piece[] = [];
  const end = at + part.text.length;
  let from = at;
  const push = (to: number, ink: Ink | null): void => {
    if (to > from) out.push({ text: part.text.slice(from - at, to - at), ink, control: false });
    from = Math.max(from, to);
  };
  for (const range of ranges) {
    if (range.to <= from || range.from >= end) continue;
    push(range.from, null);
    push(Math.min(range.to, end), range.ink);
  }
  push(end, null);
  return out;
}

/** The runs of a line, in order. Their texts joined are the line. */
export function runsOf(line: DiffLine, ranges: readonly Range[]): Run[] {
  const out: Run[] = [];
  let at = 0;
  for (const part of line.parts) {
    const changed = part.changed === true;
    const last = out.at(-1);
    const pieces = cut(part, at, ranges);
    if (last?.changed === changed) last.pieces.push(...pieces);
    else out.push({ changed, pieces });
    at += part.text.length;
  }
  return out;
}
