// Rules, sources and grants in words; the way from a rule to its place; the notes on each line of a file.

import { describe, expect, test } from 'vitest';
import type { GrantView, Rule, RulesView, RuleView } from '../../ipc/bindings';
import { FakeRules } from '../../ipc/fake_rules';
import { notesOf } from './lines';
import {
  rulesByKey,
  endedWords,
  inForce,
  lastsWords,
  noteOf,
  matchingRules,
  standingOf,
  wantsWords,
  withGrants,
} from './words';

const NOW = new Date(2026, 10, 21, 16, 10).getTime();
const HOUR_MS = 3_600_000;
const rules = new FakeRules(() => NOW);
const told = rules.answer({ type: 'rules', workspace: '/w', session: null }) as unknown as RulesView;
const view = withGrants(told, 'ses_0006');

test('sources stand in the order of their force, whatever order they come in', () =>
  expect(inForce(view.sources.toReversed()).map((source) => source.scope)).toEqual([
    'builtin',
    'manifest',
    'session',
    'project',
    'user',
  ]));

test('what was granted stands among the rules: of this folder, of this session, and everywhere, as long as it is in force', () => {
  const grants = (workspace: string, session: string | null) =>
    withGrants({ ...told, workspace }, session).sources.flatMap((source) =>
      source.rules.flatMap((rule) => (rule.grant === null ? [] : [`${source.scope} ${rule.grant}`])),
    );
  expect(grants('/w', 'ses_0006').sort()).toEqual(['session grant_1', 'user grant_3']);
  expect(grants('/home/mira/code/tidemark', null).sort()).toEqual(['project grant_2', 'user grant_3']);
  expect(withGrants(view, 'ses_0006').sources).toEqual(view.sources);
});

test('each source says what it is', () =>
  expect(inForce(view.sources).map((source) => noteOf(source, 'Unary minus', (path) => path))).toEqual([
    'protections; only a rule that names the very place overrides one',
    'agent.toml; denials here are final',
    'Unary minus',
    '.countersign/rules.toml in the repository',
    'everywhere, ~/.config/countersign/rules.toml',
  ]));

describe('a rule is found again', () => {
  const rule: Rule = {
    permission: 'bash',
    pattern: 'cargo update*',
    action: 'allow',
    reason: null,
    scope: 'project',
    file: '.countersign/rules.toml',
    line: 15,
  };
  test.each<[string, Partial<Rule>, string | undefined]>([
    ['in its line', {}, 'project .countersign/rules.toml 15'],
    ['in another line', { line: 4 }, 'project .countersign/rules.toml 15'],
    ['not where it says something else', { action: 'deny' }, undefined],
    ['not in another scope', { scope: 'user' }, undefined],
    ['by its grant', { scope: 'session', pattern: 'x', grant: 'grant_1' }, 'grant_1'],
  ])('%s', (_, more, key) => expect(matchingRules(view, { ...rule, ...more })?.key).toBe(key));
  test('with the line of the next one', () => {
    expect([
      rulesByKey(view, 'project .countersign/rules.toml 2')?.next,
      rulesByKey(view, 'project .countersign/rules.toml 15')?.next,
      rulesByKey(view, 'gone'),
    ]).toEqual([9, null, undefined]);
  });
});

test.each<[Partial<RuleView>, Partial<Rule>, string[]]>([
  [{}, {}, []],
  [{ state: 'untrusted' }, {}, ['not in force until trusted']],
  [{ state: 'spent', uses_left: 0 }, { max_uses: 5 }, ['used up']],
  [{ state: 'expired' }, { expires_ms: NOW - HOUR_MS }, ['expired 15:10']],
  [{ uses_left: 1 }, { max_uses: 5, expires_ms: NOW + HOUR_MS }, ['until 17:10', '1 use left']],
])('%j %j stands as it is said', (more, own, words) => {
  const base = rulesByKey(view, 'project .countersign/rules.toml 15')?.view;
  expect(
    base && standingOf({ ...base, ...more, rule: { ...base.rule, ...own } }, NOW).map((word) => word.text),
  ).toEqual(words);
});

test.each<[Partial<GrantView>, string, string]>([
  [{ lasts: 'session', until: NOW + HOUR_MS }, 'Session, to 17:10', 'over with its session'],
  [{ lasts: 'project', revoked: NOW - HOUR_MS }, 'Project', 'revoked 15:10'],
  [{ lasts: 'everywhere', max_uses: 5, uses: 3 }, '5 uses, 2 left', 'over with its session'],
  [{ lasts: 'project', max_uses: 1, uses: 1 }, 'Project, 1 use, 0 left', 'used up'],
  [{ lasts: 'everywhere', until: NOW - HOUR_MS }, 'Everywhere, to 15:10', 'expired 15:10'],
])('a grant %j lasts, and ended, in words', (more, lasts, ended) => {
  const grant = { ...(view.grants[0] as GrantView), until: null, uses: 0, max_uses: null, revoked: null, ...more };
  expect([lastsWords(grant, NOW), endedWords(grant, NOW)]).toEqual([lasts, ended]);
});

test('what an untrusted file wants', () => {
  const source = view.sources.find((one) => one.scope === 'project');
  if (!source) throw new Error('no project');
  expect(wantsWords(source)).toBe('1 of its 3 rules would allow; until you trust the file that one does nothing.');
  const allows = source.rules.filter(({ rule }) => rule.action === 'allow');
  expect(wantsWords({ ...source, rules: allows })).toBe(
    'Its only rule would allow; until you trust the file it does nothing.',
  );
  expect(wantsWords({ ...source, rules: [...allows, ...allows] })).toBe(
    'All its 2 rules would allow; until you trust the file those do nothing.',
  );
  expect(wantsWords({ ...source, rules: [] })).toBe('Its rules only restrict, so they already apply.');
});

test('what is wrong stands by its line, faults first, and a line is not told twice', () => {
  const fault = (message: string) => ({ message, hint: 'Correct it.', context: [] });
  const example = (line: number, holds: boolean, should_match: boolean) => ({
    line,
    rule_line: 1,
    text: 'ls',
    should_match,
    holds,
    note: null,
  });
  expect(
    notesOf({
      fault: fault('rules.toml, line 3: this is not a rule.'),
      rules: [],
      warnings: [{ line: 2, text: 'it allows everything' }],
      examples: [example(9, false, false), example(3, false, true), example(4, true, true)],
    }),
  ).toEqual([
    { line: 3, text: 'This is not a rule. Correct it.', bad: true },
    { line: 9, text: '`ls` must not match.', bad: true },
    { line: 2, text: 'It allows everything.', bad: false },
  ]);
  expect(notesOf({ fault: fault('There are more than 10,000 rules.'), rules: [], warnings: [], examples: [] })).toEqual(
    [{ line: null, text: 'There are more than 10,000 rules. Correct it.', bad: true }],
  );
});
