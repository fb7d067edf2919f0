// Syntax colours of a text in five inks. It is parsed as a whole, so that a comment over several lines is one.

import type { Parser } from '@lezer/common';
import { highlightTree, tagHighlighter, tags } from '@lezer/highlight';
import type { Span } from '../shown';

/** The inks; plain text has none. */
export type Ink = 'keyword' | 'type' | 'literal' | 'comment';

/** A coloured stretch of one line, in UTF-16 units of its shown text. */
export interface Range {
  from: number;
  to: number;
  ink: Ink;
}

/** Longer texts stay plain: colours are worth less than an interface that answers. */
const TEXT_MAX = 200_000;

const dataInks = tagHighlighter([
  {
    tag: [
      tags.keyword,
      tags.self,
      tags.bool,
      tags.null,
      tags.atom,
      tags.modifier,
      tags.documentMeta,
      tags.processingInstruction,
    ],
    class: 'keyword',
  },
  {
    tag: [tags.typeName, tags.className, tags.namespace, tags.tagName, tags.macroName, tags.propertyName, tags.heading],
    class: 'type',
  },
  {
    tag: [
      tags.string,
      tags.number,
      tags.regexp,
      tags.character,
      tags.escape,
      tags.attributeValue,
      tags.monospace,
      tags.url,
    ],
    class: 'literal',
  },
  { tag: [tags.comment, tags.meta, tags.quote], class: 'comment' },
]);
// A member of an object is plain in a program, and the key that gives a data file its shape.
const programInks = tagHighlighter([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], class: '' },
  { tag: [tags.keyword, tags.self, tags.bool, tags.null, tags.atom, tags.modifier], class: 'keyword' },
  { tag: [tags.typeName, tags.className, tags.namespace, tags.tagName, tags.macroName], class: 'type' },
  { tag: [tags.string, tags.number, tags.regexp, tags.character, tags.escape, tags.attributeValue], class: 'literal' },
  { tag: [tags.comment, tags.meta], class: 'comment' },
]);

/**
 * Returns a line of the same length with the names of hidden characters blanked, so that they do not mislead the parser.
 */
export function withoutNames(spans: readonly Partial<Span>[]): string {
  return spans.map(({ text = '', control }) => (control ? ' '.repeat(text.length) : text)).join('');
}

/** Languages whose keys are worth a colour. */
const DATA = new Set(['json', 'yaml', 'toml', 'css', 'html', 'xml', 'markdown']);

/** The coloured stretches of each line of a text. `language` is the name of the grammar. */
export function coloured(parser: Parser, language: string, texts: readonly string[]): Range[][] {
  const out: Range[][] = texts.map(() => []);
  const whole = texts.join('\n');
  if (whole.length > TEXT_MAX) return out;
  let line = 0;
  let start = 0;
  highlightTree(parser.parse(whole), DATA.has(language) ? dataInks : programInks, (from, to, names) => {
    const ink = names.split(' ').at(-1) as Ink | '';
    if (!ink) return;
    let at = from;
    while (at < to) {
      let length = texts[line]?.length ?? 0;
      while (at > start + length && line < texts.length) {
        start += length + 1;
        line += 1;
        length = texts[line]?.length ?? 0;
      }
      const end = Math.min(to, start + length);
      if (end > at) out[line]?.push({ from: at - start, to: end - start, ink });
      at = end + 1;
    }
  });
  return out;
}
