// Colours for languages without a grammar: line by line, only what a line alone can tell.

import type { Ink, Range } from './highlight';

/** Tokens of a language's lines. The first pattern that matches at a position wins. */
type Rules = readonly [Ink, RegExp][];

const quoted = /"(?:[^"\\]|\\.)*"?|'[^']*'?/y;
const hash = /#.*/y;
const number = /\b\d[\d_.:TZ-]*\b/y;

const toml: Rules = [
  ['comment', hash],
  ['literal', quoted],
  ['type', /^\s*\[\[?[^\]]*\]\]?/y],
  ['type', /[\w.-]+(?=\s*=)/y],
  ['keyword', /\b(?:true|false)\b/y],
  ['literal', number],
];
const shell: Rules = [
  ['comment', /(?<=^|\s)#.*/y],
  ['literal', quoted],
  ['type', /\$(?:\w+|\{[^}]*\})/y],
  [
    'keyword',
    /\b(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|in|function|return|local|export|set|exit)\b(?![\w-])/y,
  ],
];
const rules: Record<string, Rules> = {
  toml,
  ini: [['comment', /[#;].*/y], ...toml.slice(1)],
  bash: shell,
  dockerfile: [
    ['keyword', /^\s*(?:FROM|RUN|COPY|ADD|ENV|ARG|WORKDIR|CMD|ENTRYPOINT|EXPOSE|USER|LABEL|VOLUME)\b/y],
    ...shell,
  ],
  makefile: [['type', /^[\w./%-]+(?=\s*:)/y], ...shell],
  sql: [
    ['comment', /--.*/y],
    ['literal', quoted],
    [
      'keyword',
      /\b(?:select|from|where|and|or|not|insert|into|values|update|set|delete|create|table|index|alter|drop|join|left|on|group|order|by|limit|as|null|primary|key)\b/iy,
    ],
    ['literal', number],
  ],
};

/** Lines longer than this stay plain. */
const LINE_MAX = 2_000;

/** The coloured stretches of each line; none in a language that is not known. */
export function simplyColoured(language: string, lines: readonly string[]): Range[][] {
  const own = Object.hasOwn(rules, language) ? rules[language] : undefined;
  return lines.map((line) => (own ? rangesOf(own, line) : []));
}

function rangesOf(own: Rules, text: string): Range[] {
  const out: Range[] = [];
  if (text.length > LINE_MAX) return out;
  let at = 0;
  while (at < text.length) {
    const hit = own.find(([, pattern]) => {
      pattern.lastIndex = at;
      return pattern.test(text) && pattern.lastIndex > at;
    });
    if (hit) out.push({ from: at, to: hit[1].lastIndex, ink: hit[0] });
    // A word that means nothing is passed over whole, so that none begins within it.
    at = hit ? hit[1].lastIndex : at + (/^[\w-]+/.exec(text.slice(at))?.[0].length ?? 1);
  }
  return out;
}
