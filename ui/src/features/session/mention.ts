// A file that a message names: an @ and a part of its path, at the caret. Pure.

/** The part of a text that names a file. */
export interface Mention {
  /** Where the @ stands. */
  start: number;
  /** The caret, behind what is typed of the path. */
  end: number;
  /** What is typed of the path. */
  path: string;
}

/** A text and the caret in it. */
export interface Typed {
  text: string;
  caret: number;
}

/** The name that is being typed at the caret; none if there is none. An address of mail names no file. */
export function mentionAt({ text, caret }: Typed): Mention | null {
  const found = /(?:^|[\s(])@([^\s@"]*)$/.exec(text.slice(0, caret));
  if (!found) return null;
  const path = found[1] ?? '';
  return { start: caret - path.length - 1, end: caret, path };
}

/** The text with a file in the place of what was typed of it. */
export function withMention({ text }: Typed, mention: Mention, path: string): Typed {
  const named = `${nameOf(path)} `;
  const rest = text.slice(mention.end).replace(/^ /, '');
  return { text: text.slice(0, mention.start) + named + rest, caret: mention.start + named.length };
}

/** The text with a file named at the caret. */
export function insertMention(typed: Typed, path: string): Typed {
  const { text, caret } = typed;
  const gap = caret > 0 && !/\s$/.test(text.slice(0, caret)) ? ' ' : '';
  const at = { text: text.slice(0, caret) + gap + text.slice(caret), caret: caret + gap.length };
  return withMention(at, { start: at.caret, end: at.caret, path: '' }, path);
}

function nameOf(path: string): string {
  return /[\s"]/.test(path) ? `@"${path.replaceAll('"', '\\"')}"` : `@${path}`;
}
