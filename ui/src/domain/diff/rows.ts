// The rows of a difference: pairs for the split view, and the gaps between hunks that can be expanded.

import type { DiffLine, DisplaySpan, FileDiff, Hunk } from '../../ipc/bindings';

/** One row of the split view, by the lines' places in the hunk; none where the other side has no counterpart. */
export interface Pair {
  left: number | null;
  right: number | null;
}

/** Pairs lines side by side: a removed line stands beside the added line that replaces it. */
export function pairs(lines: readonly DiffLine[]): Pair[] {
  const out: Pair[] = [];
  let at = 0;
  while (at < lines.length) {
    if (lines[at]?.kind === 'context') {
      out.push({ left: at, right: at });
      at += 1;
      continue;
    }
    const gone: number[] = [];
    const come: number[] = [];
    for (; at < lines.length && lines[at]?.kind !== 'context'; at += 1)
      (lines[at]?.kind === 'removed' ? gone : come).push(at);
    for (let i = 0; i < Math.max(gone.length, come.length); i += 1)
      out.push({ left: gone[i] ?? null, right: come[i] ?? null });
  }
  return out;
}

/** The number of lines one press shows. */
export const STEP = 20;
/** The number of lines one question may ask for. */
export const ASK_MAX = 2000;

/** The first and the last line of a hunk, before and after. */
export function extent(hunk: Hunk): { old: [number, number]; fresh: [number, number] } {
  const old = hunk.lines.flatMap((line) => line.old ?? []);
  const fresh = hunk.lines.flatMap((line) => line.new ?? []);
  const range = (numbers: number[], start: number): [number, number] => {
    const first = numbers[0];
    const last = numbers.at(-1);
    return first === undefined || last === undefined ? [start + 1, start] : [first, last];
  };
  return { old: range(old, hunk.old_start), fresh: range(fresh, hunk.new_start) };
}

/** Unchanged lines before a hunk, or after the last one. Numbers are those of the file as it is. */
interface Gap {
  /** First line of the gap. */
  from: number;
  /** Last line of the gap; none where only the file knows its end. */
  to: number | null;
  /** Difference between the number of a line after the change and its number before. */
  shift: number;
}

/** The gaps of a file: one before each hunk, one after the last. A file that comes has none, nor one that is not shown. */
export function gaps(file: FileDiff): Gap[] {
  if (!file.exists || file.hunks.some((hunk) => hunk.lines.length === 0)) return [];
  const out: Gap[] = [];
  let from = 1;
  let shift = 0;
  for (const hunk of file.hunks) {
    const { old, fresh } = extent(hunk);
    out.push({ from, to: old[0] - 1, shift });
    from = old[1] + 1;
    shift = fresh[1] - old[1];
  }
  out.push({ from, to: null, shift });
  return out;
}

/** Lines of a gap that are shown: its first ones and its last ones. */
export interface Shown {
  head: DisplaySpan[][];
  tail: DisplaySpan[][];
  /** Whether the file ends with the head of the gap after the last hunk. */
  ended: boolean;
}

/** No line of a gap. */
export const nothing: Shown = { head: [], tail: [], ended: false };

/** How many lines of a gap are still hidden; none when only the file knows. */
export function hidden(gap: Gap, shown: Shown): number | null {
  if (gap.to === null) return shown.ended ? 0 : null;
  return Math.max(0, gap.to - gap.from + 1 - shown.head.length - shown.tail.length);
}

/** Returns the lines to ask for next: above a hunk from the gap's end, below one from its start, at most `most`. */
export function wanted(gap: Gap, shown: Shown, edge: 'head' | 'tail', most: number): { start: number; count: number } {
  const left = hidden(gap, shown);
  const count = Math.min(most, left ?? most);
  if (edge === 'head' || gap.to === null) return { start: gap.from + shown.head.length, count };
  return { start: gap.to - shown.tail.length - count + 1, count };
}

/** The gap with more of it shown. `asked` is how many lines were asked for. */
export function grown(
  shown: Shown,
  edge: 'head' | 'tail',
  lines: DisplaySpan[][],
  asked: number,
  open: boolean,
): Shown {
  if (edge === 'tail') return { ...shown, tail: [...lines, ...shown.tail] };
  return { ...shown, head: [...shown.head, ...lines], ended: shown.ended || (open && lines.length < asked) };
}

/** Lines of a gap as unchanged lines of the difference. */
export function asContext(spans: readonly DisplaySpan[][], first: number, shift: number): DiffLine[] {
  return spans.map((parts, i) => ({
    kind: 'context',
    old: first + i,
    new: first + i + shift,
    parts: parts.map((span) => (span.control ? { text: span.text, control: true } : { text: span.text })),
  }));
}
