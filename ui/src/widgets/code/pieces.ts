// A line of code as it is drawn: cut at the borders of its syntax colours.

import type { Span } from '../shown';
import type { Ink, Range } from './highlight';

/** A stretch of one look. */
export interface Piece {
  text: string;
  ink: Ink | null;
  /** The name of a hidden character. */
  control: boolean;
}

/** One stretch cut at the borders of the colours; `at` is where it starts in the line. */
export function cutAtColours(part: Pick<Span, 'text'> & Partial<Span>, at: number, ranges: readonly Range[]): Piece[] {
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

/** The pieces of a line, in order. Their texts joined are the line. */
export function piecesOf(spans: readonly Span[], ranges: readonly Range[]): Piece[] {
  let at = 0;
  return spans.flatMap((span) => {
    const pieces = cutAtColours(span, at, ranges);
    at += span.text.length;
    return pieces;
  });
}
