// Rules as text for the recorded engine: plainly written, and a rule replaced by the lines that it stands in.

import type { NewRule } from './bindings';

const list = (texts: readonly string[]) => `[${texts.map((text) => JSON.stringify(text)).join(', ')}]`;

/** A rule as it stands in a file. */
export function ruleText(rule: NewRule): string {
  const members: [string, string | null][] = [
    ['permission', JSON.stringify(rule.permission)],
    ['pattern', rule.pattern === null ? null : JSON.stringify(rule.pattern)],
    ['action', JSON.stringify(rule.action)],
    ['reason', rule.reason === null ? null : JSON.stringify(rule.reason)],
    ['match', rule.matches.length === 0 ? null : list(rule.matches)],
    ['not_match', rule.not_matches.length === 0 ? null : list(rule.not_matches)],
    ['expires', rule.expires_ms === null ? null : new Date(rule.expires_ms).toISOString().replace('.000Z', 'Z')],
    ['max_uses', rule.max_uses === null ? null : String(rule.max_uses)],
  ];
  return ['[[rule]]', ...members.flatMap(([key, value]) => (value === null ? [] : [`${key} = ${value}`])), ''].join(
    '\n',
  );
}

/** A file's text with a rule at its end. */
export function withRule(text: string, rule: NewRule): string {
  const before = text.trimEnd();
  return `${before === '' ? '' : `${before}\n\n`}${ruleText(rule)}`;
}

/** A file's text with another rule in the place of the one whose header stands in a line, from 1; null: without it and its comment. */
export function withChanged(text: string, line: number, rule: NewRule | null): string {
  const lines = text.split('\n');
  const is = (at: number, what: RegExp) => what.test(lines[at] ?? '');
  const next = lines.indexOf('[[rule]]', line);
  let end = next === -1 ? lines.length : next;
  while (end > line && is(end - 1, /^\s*(#.*)?$/)) end -= 1;
  if (rule !== null)
    return [...lines.slice(0, line - 1), ...ruleText(rule).trimEnd().split('\n'), ...lines.slice(end)].join('\n');
  let start = line - 1;
  while (start > 0 && is(start - 1, /^#/)) start -= 1;
  while (end < lines.length - 1 && lines[end] === '') end += 1;
  return [...lines.slice(0, start), ...lines.slice(end)].join('\n');
}
