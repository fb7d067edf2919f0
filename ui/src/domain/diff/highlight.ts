// Syntax colours of a hunk: each side is parsed as one text.

import type { Parser } from '@lezer/common';
import type { DiffLine } from '../../ipc/bindings';
import { coloured, withoutNames, type Range } from '../../widgets/code/highlight';
import { simplyColoured } from '../../widgets/code/simple';

/** The text of a line as it is shown. */
export function textOf(line: DiffLine): string {
  return line.parts.map((part) => part.text).join('');
}

/**
 * The coloured stretches of each line of a hunk: lines that go as the file was, all others as it will be. Without a
 * grammar each line is coloured by what it alone can tell.
 */
export function hunkColours(parser: Parser | null, language: string, lines: readonly DiffLine[]): Range[][] {
  if (!parser) return simplyColoured(language, lines.map(textOf));
  const out: Range[][] = lines.map(() => []);
  for (const side of ['removed', 'added'] as const) {
    const members = lines.flatMap((line, at) => (line.kind === 'context' || line.kind === side ? [at] : []));
    if (side === 'removed' && !members.some((at) => lines[at]?.kind === 'removed')) continue;
    const texts = members.map((at) => withoutNames((lines[at] as DiffLine).parts));
    coloured(parser, language, texts).forEach((ranges, i) => {
      const at = members[i] as number;
      if (side === 'added' || lines[at]?.kind === 'removed') out[at] = ranges;
    });
  }
  return out;
}
