// A rule as it is written in a rules file, and a file's text with one rule put in, changed or taken out. What is not changed
// stays letter for letter, comments included. Pure; whether it holds is said by the engine.

import type { NewRule } from '../ipc/bindings/NewRule';

/** The members of a rule in the order in which they are written. */
const KEYS = ['permission', 'pattern', 'action', 'reason', 'match', 'not_match', 'expires', 'max_uses'] as const;
type Key = (typeof KEYS)[number];

const HEADER = '[[rule]]';
const KEY = /^\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*=/;
/** In a basic string these cannot stand as they are. */
const ESCAPED = /["\\\u0000-\u001f\u007f]/g;
const SHORT: Record<string, string> = { '"': '\\"', '\\': '\\\\', '\n': '\\n', '\t': '\\t', '\r': '\\r' };

/** A text as a TOML string. */
export function tomlString(text: string): string {
  const escaped = text.replace(ESCAPED, (character) => SHORT[character] ?? `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
  return `"${escaped}"`;
}

/** The value of a member as it is written; none where the rule has no such member. */
function valueOf(rule: NewRule, key: Key): string | null {
  const list = (texts: readonly string[]) => (texts.length === 0 ? null : texts.length === 1 ? `[${tomlString(texts[0] ?? '')}]` : `[\n${texts.map((text) => `  ${tomlString(text)},\n`).join('')}]`);
  switch (key) {
    case 'permission':
      return tomlString(rule.permission);
    case 'pattern':
      return rule.pattern === null ? null : tomlString(rule.pattern);
    case 'action':
      return tomlString(rule.action);
    case 'reason':
      return rule.reason === null ? null : tomlString(rule.reason);
    case 'match':
      return list(rule.matches);
    case 'not_match':
      return list(rule.not_matches);
    case 'expires':
      return rule.expires_ms === null ? null : new Date(rule.expires_ms).toISOString().replace('.000Z', 'Z');
    case 'max_uses':
      return rule.max_uses === null ? null : String(rule.max_uses);
  }
}

/** A rule as it stands in a file, without a line feed at its end. */
export function ruleText(rule: NewRule): string {
  const members = KEYS.flatMap((key) => {
    const value = valueOf(rule, key);
    return value === null ? [] : [`${key} = ${value}`];
  });
  return [HEADER, ...members].join('\n');
}

/** A file's text with a rule at its end. */
export function withRule(text: string, rule: NewRule): string {
  const before = text.trimEnd();
  return `${before === '' ? '' : `${before}\n\n`}${ruleText(rule)}\n`;
}

/** A rule's place in a file: the line of its header, and that of the next rule's; none if it is the last. Lines from 1. */
export interface Place {
  line: number;
  next: number | null;
}

/** The lines of one rule, from its header to its last member. What follows, up to the next rule, belongs to that one. */
function blockOf(lines: readonly string[], { line, next }: Place): { from: number; to: number } | null {
  const from = line - 1;
  if (lines[from]?.trim().split('#')[0]?.trim() !== HEADER) return null;
  let to = next === null ? lines.length : next - 1;
  while (to > from + 1 && /^\s*(#.*)?$/.test(lines[to - 1] ?? '')) to -= 1;
  return { from, to };
}

/** Whether a rule can be changed here: one written in one line of another shape can only be changed in the file as a whole. */
export function isEditable(text: string, place: Place): boolean {
  return blockOf(text.split('\n'), place) !== null;
}

/** A file's text with a rule changed: only members that differ are written anew. None where it is not written as usual. */
export function withChanged(text: string, place: Place, before: NewRule, after: NewRule): string | null {
  const lines = text.split('\n');
  const block = blockOf(lines, place);
  if (!block) return null;
  const changed = new Map(KEYS.filter((key) => valueOf(before, key) !== valueOf(after, key)).map((key) => [key as string, valueOf(after, key)]));
  const written = segments(lines.slice(block.from + 1, block.to)).flatMap(({ key, lines: own }) => {
    if (key === null || !changed.has(key)) return own;
    const value = changed.get(key);
    changed.delete(key);
    return typeof value === 'string' ? [`${key} = ${value}`] : [];
  });
  const added = [...changed].flatMap(([key, value]) => (value === null ? [] : [`${key} = ${value}`]));
  return [...lines.slice(0, block.from + 1), ...written, ...added, ...lines.slice(block.to)].join('\n');
}

/** A file's text without a rule, and without the comment right above it. None where it is not written as usual. */
export function withoutRule(text: string, place: Place): string | null {
  const lines = text.split('\n');
  const block = blockOf(lines, place);
  if (!block) return null;
  let { from, to } = block;
  while (from > 0 && /^\s*#/.test(lines[from - 1] ?? '')) from -= 1;
  // A comment at the very top is about the file.
  if (from === 0) from = block.from;
  while (to < lines.length - 1 && lines[to]?.trim() === '') to += 1;
  return [...lines.slice(0, from), ...lines.slice(to)].join('\n');
}

/** The members of a rule with all their lines; comments and empty lines stand alone. */
function segments(lines: readonly string[]): { key: string | null; lines: string[] }[] {
  const out: { key: string | null; lines: string[] }[] = [];
  let open: Open = { quote: '', depth: 0 };
  for (const line of lines) {
    const goesOn = open.quote !== '' || open.depth > 0;
    const named = goesOn ? null : KEY.exec(line);
    if (goesOn) out.at(-1)?.lines.push(line);
    else out.push({ key: named ? (named[1] ?? named[2] ?? named[3] ?? '') : null, lines: [line] });
    if (goesOn || named) open = after(line.slice(named?.[0].length ?? 0), open);
  }
  return out;
}

/** What is still open at the end of a line: a string of several lines, or brackets. */
interface Open {
  quote: string;
  depth: number;
}

function after(line: string, before: Open): Open {
  let { quote, depth } = before;
  for (let i = 0; i < line.length; i += 1) {
    const three = line.slice(i, i + 3);
    const one = line[i] ?? '';
    if (quote !== '') {
      if (one === '\\' && quote.startsWith('"')) i += 1;
      else if (line.startsWith(quote, i)) {
        i += quote.length - 1;
        quote = '';
      }
    } else if (three === '"""' || three === "'''") {
      quote = three;
      i += 2;
    } else if (one === '"' || one === "'") quote = one;
    else if (one === '#') break;
    else if (one === '[') depth += 1;
    else if (one === ']') depth -= 1;
  }
  // A string of one line ends with it.
  return { quote: quote.length === 3 ? quote : '', depth };
}
