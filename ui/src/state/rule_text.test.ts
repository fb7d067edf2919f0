// Rules as text: what is written, what is changed, and that everything else stays as it was.

import { describe, expect, test } from 'vitest';
import type { NewRule } from '../ipc/bindings/NewRule';
import { isEditable, ruleText, tomlString, withChanged, withoutRule, withRule } from './rule_text';

const plain: NewRule = { permission: 'bash', pattern: 'cargo update*', action: 'allow', reason: null, matches: [], not_matches: [], expires_ms: null, max_uses: null };
const full: NewRule = { ...plain, reason: 'says "no"', matches: ['cargo update -w'], not_matches: ['cargo upgrade', 'cargo update; rm -r x'], expires_ms: Date.UTC(2026, 11, 1), max_uses: 5 };

test.each([
  ['plain', '"plain"'],
  ['a "b" \\c', '"a \\"b\\" \\\\c"'],
  ['line\nfeed\u0007', '"line\\nfeed\\u0007"'],
])('%j as a TOML string', (text, written) => expect(tomlString(text)).toBe(written));

test('a rule is written with just the members that it has', () => {
  expect(ruleText(plain)).toBe('[[rule]]\npermission = "bash"\npattern = "cargo update*"\naction = "allow"');
  expect(ruleText(full).split('\n').slice(4)).toEqual(['reason = "says \\"no\\""', 'match = ["cargo update -w"]', 'not_match = [', '  "cargo upgrade",', '  "cargo update; rm -r x",', ']', 'expires = 2026-12-01T00:00:00Z', 'max_uses = 5']);
});

test('a rule is put at the end, one empty line after what stands there', () => {
  expect(withRule('', plain)).toBe(`${ruleText(plain)}\n`);
  expect(withRule('default = "ask"\n\n\n', plain)).toBe(`default = "ask"\n\n${ruleText(plain)}\n`);
});

const FILE = `# What agents may do here.
default = "ask"

# Secrets are ours.
[[rule]]
permission = "fs.write"
pattern    = ".env*" # all of them
action = "deny"

# Updates.
[[rule]]
permission = "bash"
pattern = "cargo update*"
# They said so.
action = "allow"
match = [
  "cargo update -w", # "[[rule]]"
  "[[rule]]",
]

[[rule]]
permission = "mode:safe_write"
action = "allow"
`;
const update: NewRule = { ...plain, matches: ['cargo update -w', '[[rule]]'] };
const second = { line: 11, next: 21 };

describe('a change', () => {
  test('writes only what differs, and keeps comments, order and layout', () => {
    const after = withChanged(FILE, second, update, { ...update, action: 'ask', reason: 'look first' });
    expect(after).toBe(FILE.replace('action = "allow"\nmatch', 'action = "ask"\nmatch').replace('  "[[rule]]",\n]', '  "[[rule]]",\n]\nreason = "look first"'));
  });
  test('of a member of several lines takes all of them away', () => {
    const after = withChanged(FILE, second, update, { ...update, matches: [] });
    expect(after).toBe(FILE.replace(/match = \[[^]*?\n\]\n/, ''));
  });
  test('of the last rule, whose end is that of the file', () => {
    const last: NewRule = { ...plain, permission: 'mode:safe_write', pattern: null };
    expect(withChanged(FILE, { line: 21, next: null }, last, { ...last, pattern: 'src/**' })).toBe(FILE.replace('"mode:safe_write"\naction = "allow"', '"mode:safe_write"\naction = "allow"\npattern = "src/**"'));
  });
  test('of nothing changes nothing', () => expect(withChanged(FILE, second, update, update)).toBe(FILE));
  test('is not made where no header stands', () => {
    expect([withChanged(FILE, { line: 2, next: null }, update, plain), withoutRule(FILE, { line: 2, next: null }), isEditable('rule = [{ permission = "bash" }]', { line: 1, next: null })]).toEqual([null, null, false]);
  });
});

test('a rule is taken out with the comment right above it; a comment at the top stays', () => {
  expect(withoutRule(FILE, second)).toBe(FILE.replace(/# Updates\.[^]*?\n\]\n\n/, ''));
  const top = '# Of the file.\n[[rule]]\npermission = "bash"\n\n[[rule]]\npermission = "edit"\n';
  expect(withoutRule(top, { line: 2, next: 5 })).toBe('# Of the file.\n[[rule]]\npermission = "edit"\n');
});
