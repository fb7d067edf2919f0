// Text shown letter for letter: what cannot be seen, or changes how the rest is seen, becomes a visible mark. The same
// characters as the engine's (crates/protocol/src/shown.rs), for text that comes without marks.

import { splitIsolates } from '../locales/isolate';

/** A stretch of text, either as it is or the name of a character that must not be drawn. */
export interface Span {
  text: string;
  /** Whether this is the name of a character that must not be drawn. */
  control: boolean;
  /** Whether that character is not hidden, but looks like another one. */
  twin?: boolean;
}

/** Characters that are invisible, reorder their neighbours or move the cursor. Line feeds and tabs stay as they are. */
export const HIDDEN =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class -- to find just those
  /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\ufeff\ufe00-\ufe0f\ufff0-\ufffb\u{e0000}-\u{e0fff}\ud800-\udfff]/gu;

/** A character's name: `U+202E`. */
export function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Returns a text with its hidden characters by name, for a place that holds plain text alone: a label, a title. */
export function named<T extends string | undefined>(text: T): T {
  return (text &&
    splitIsolates(text)
      .map(({ text, isIsolate }) => (isIsolate ? text : text.replace(HIDDEN, nameOf)))
      .join('')) as T;
}

/** Splits a text into plain stretches and named hidden characters. */
export function shown(text: string): Span[] {
  return splitIsolates(text).flatMap(({ text, isIsolate }) =>
    isIsolate ? { text, control: false } : nameHidden(text),
  );
}

function nameHidden(text: string): Span[] {
  const out: Span[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match.index > from) out.push({ text: text.slice(from, match.index), control: false });
    out.push({ text: nameOf(match[0]), control: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) out.push({ text: text.slice(from), control: false });
  return out;
}

/** Named text line by line; a hidden character is never a line feed here. */
export function splitLines(spans: readonly Span[]): Span[][] {
  const out: Span[][] = [[]];
  for (const span of spans) {
    const pieces = span.control ? [span.text] : span.text.split('\n');
    pieces.forEach((text, i) => {
      if (i > 0) out.push([]);
      if (text !== '') out.at(-1)?.push({ text, control: span.control });
    });
  }
  return out;
}
