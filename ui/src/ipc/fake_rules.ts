// The rules of the recorded engine: one source of each scope, grants, watchdogs, and answers as the engine gives them.

import type {
  Answer,
  Backtest,
  BacktestCall,
  ExampleCheck,
  GrantOffer,
  GrantView,
  ImportSource,
  NewRule,
  Op,
  Query,
  Rule,
  RuleScope,
  RuleSource,
  RuleView,
  Trust,
  UserError,
} from './bindings';
import { Refused } from './desk';
import { ruleText, withChanged, withRule } from './fake_rule_text';
import { sampleImports, sampleOffers, sampleTrail, sampleWatchdogs } from './fake_rule_samples';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const PROJECT_FILE = '.countersign/rules.toml';
const USER_FILE = '~/.config/countersign/rules.toml';

const USER_TEXT = `[[rule]]
permission = "bash"
pattern = "git status*"
action = "allow"
reason = "Reads only"

[[rule]]
permission = "mode:safe_write"
action = "allow"
`;
const PROJECT_TEXT = `# What agents may do in tidemark.
[[rule]]
permission = "fs.write"
pattern = ".env*"
action = "deny"
reason = "Secrets are edited by hand"

# The grammar is hard to test.
[[rule]]
permission = "edit"
pattern = "crates/parser/**"
action = "ask"
reason = "The grammar is reviewed by a person"

[[rule]]
permission = "bash"
pattern = "cargo update*"
action = "allow"
match = ["cargo update -w", "cargo update -p axum --precise 0.8.1"]
not_match = ["cargo upgrade", "cargo update; rm -r target"]
`;

function newRule(
  permission: string,
  pattern: string | null,
  action: NewRule['action'],
  more: Partial<NewRule> = {},
): NewRule {
  return {
    permission,
    pattern,
    action,
    reason: null,
    matches: [],
    not_matches: [],
    expires_ms: null,
    max_uses: null,
    ...more,
  };
}

const fault = (message: string, hint: string): UserError => ({ message, hint, context: [] });

/** A rules file as far as the samples need it: tables with strings, lists, numbers and times, a value on one or more lines. */
function read(
  text: string,
  scope: RuleScope,
  file: string,
): { rules: { rule: Rule; written: NewRule }[]; fault: UserError | null } {
  const rules: { rule: Rule; written: NewRule }[] = [];
  const lines = text.split('\n');
  let open: { line: number; members: Record<string, unknown> } | null = null;
  const wrong = (line: number, what: string) => ({
    rules,
    fault: fault(`${file}, line ${line}: ${what}.`, 'Correct the line. Until then every call asks.'),
  });
  const close = () => {
    if (!open) return;
    const { line, members } = open;
    const written = newRule(
      String(members['permission']),
      (members['pattern'] as string | undefined) ?? null,
      (members['action'] as NewRule['action'] | undefined) ?? 'ask',
      {
        reason: (members['reason'] as string | undefined) ?? null,
        matches: (members['match'] as string[] | undefined) ?? [],
        not_matches: (members['not_match'] as string[] | undefined) ?? [],
        expires_ms: (members['expires'] as number | undefined) ?? null,
        max_uses: (members['max_uses'] as number | undefined) ?? null,
      },
    );
    rules.push({
      written,
      rule: {
        permission: written.permission,
        pattern: written.pattern,
        action: written.action,
        reason: written.reason,
        scope,
        file,
        line,
        ...(written.expires_ms !== null && { expires_ms: written.expires_ms }),
        ...(written.max_uses !== null && { max_uses: written.max_uses }),
      },
    });
  };
  for (let i = 0; i < lines.length; i += 1) {
    const text = (lines[i] ?? '').trim();
    if (text === '' || text.startsWith('#')) continue;
    if (text === '[[rule]]') {
      close();
      open = { line: i + 1, members: {} };
      continue;
    }
    const [, key, first] = /^(\w+)\s*=\s*(.+)$/.exec(text) ?? [];
    if (!key || first === undefined) return wrong(i + 1, 'this is not a member of a rule');
    if (!open) continue;
    let value = first;
    while (value.startsWith('[') && !value.endsWith(']') && i + 1 < lines.length)
      value += (lines[(i += 1)] ?? '').trim();
    try {
      open.members[key] = /^\d{4}-/.test(value)
        ? Date.parse(value)
        : (JSON.parse(value.replace(/,\]$/, ']')) as unknown);
    } catch {
      return wrong(i + 1, `\`${key}\` has no value that can be read`);
    }
  }
  close();
  return { rules, fault: null };
}

/** Whether a pattern covers a text: `words*` is those words, then the end or more words. */
function covers(pattern: string | null, text: string): boolean {
  if (pattern === null || pattern === '**') return true;
  if (!pattern.endsWith('*')) return pattern === text;
  const stem = pattern.replace(/\*+$/, '').trimEnd();
  return text === stem || text.startsWith(`${stem} `) || (/[/.]$/.test(stem) && text.startsWith(stem));
}

function checked(rule: NewRule, line: number): ExampleCheck[] {
  const one = (text: string, should_match: boolean): ExampleCheck => {
    const matches = covers(rule.pattern, text.split(/[;&|]/)[0]?.trim() ?? '') && !/[;&|]/.test(text);
    const note =
      should_match === matches
        ? /[;&|]/.test(text)
          ? 'the second command is judged alone'
          : null
        : matches
          ? 'it matches'
          : 'it does not match';
    return { line, rule_line: line, text, should_match, holds: matches === should_match, note };
  };
  return [...rule.matches.map((text) => one(text, true)), ...rule.not_matches.map((text) => one(text, false))];
}

/** Returns the problem of one rule as it is written. */
function troubleOf(rule: NewRule): UserError | null {
  if (rule.permission.trim() === '')
    return fault('The rule does not say what it applies to.', 'Name a tool, a capability, a mode, or `*`.');
  if (/^(sudo|sh|bash|env|xargs)\b.*\*$/.test(rule.pattern ?? ''))
    return fault(`\`${rule.pattern}\` would cover whatever it is given to run.`, 'Name the program that it runs.');
  return null;
}

export class FakeRules {
  texts: { user: string; project: string } = { user: USER_TEXT, project: PROJECT_TEXT };
  trust: Trust = 'trusted';
  /** Why nothing can be granted from a card; null if something can. */
  refused: string | null = null;
  /** Grants on offer from a card, where anything can be granted. */
  offers: readonly GrantOffer[] = sampleOffers;
  imports: readonly ImportSource[] = sampleImports;
  #revoked = new Set<string>();
  readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  /** Carries out an op about rules; false for any other. */
  carryOut(op: Op): boolean {
    switch (op.type) {
      case 'revoke_grant':
        this.#revoked.add(op.grant);
        return true;
      case 'trust_rules':
        this.trust = 'trusted';
        return true;
      case 'distrust_rules':
        this.trust = 'unknown';
        return true;
      case 'save_rules':
        return this.#save(op.scope === 'user' ? 'user' : 'project', op.base, op.text);
      case 'change_rule': {
        const { scope: given, line, base } = op.place;
        const scope = given === 'user' ? 'user' : 'project';
        return this.#save(scope, base, withChanged(this.texts[scope], line, op.rule));
      }
      case 'add_rules': {
        const scope = op.scope === 'user' ? 'user' : 'project';
        this.texts[scope] = op.rules.reduce(withRule, this.texts[scope]);
        return true;
      }
      default:
        return false;
    }
  }

  /** Answers a question about rules; none for any other. */
  answer(query: Query): Answer | null {
    switch (query.type) {
      case 'rules':
        return {
          type: 'rules',
          sources: this.#sources(),
          grants: this.#grants(),
          watchdogs: sampleWatchdogs,
          workspace: query.workspace,
        };
      case 'project_rules':
        return {
          type: 'project_rules',
          rules: {
            file: PROJECT_FILE,
            digest: digestOf(this.texts.project),
            trust: this.trust,
            text: [{ text: this.texts.project, control: false }],
            changes:
              this.trust === 'changed'
                ? [{ text: '@@ -15,2 +15,2 @@\n-action = "ask"\n+action = "allow"\n', control: false }]
                : [],
          },
        };
      case 'offers':
        return this.refused === null
          ? { type: 'offers', offers: [...this.offers], refused: null }
          : { type: 'offers', offers: [], refused: this.refused };
      case 'backtest':
        return {
          type: 'backtest',
          ...this.#backtest(
            query.change.type === 'remove'
              ? 'ask'
              : query.change.type === 'replace'
                ? 'allow'
                : query.change.rule.action,
          ),
        };
      case 'evaluate_call':
        return {
          type: 'evaluate_call',
          trail: sampleTrail(String(query.arguments['command'] ?? query.arguments['path'] ?? '')),
        };
      case 'check_rule':
        return {
          type: 'check_rule',
          fault: troubleOf(query.rule),
          warnings:
            query.rule.pattern === null && query.rule.action === 'allow'
              ? [{ line: 1, text: `it allows everything that \`${query.rule.permission}\` can do` }]
              : [],
          examples: checked(query.rule, 1),
          meaning: meaningOf(query.rule),
          text: ruleText(query.rule),
        };
      case 'check_rules': {
        const file = query.scope === 'user' ? USER_FILE : PROJECT_FILE;
        const { rules, fault: wrong } = read(query.text, query.scope, file);
        return {
          type: 'check_rules',
          fault: wrong,
          rules: rules.map(({ rule, written }) => this.#view(rule, written, 'active')),
          warnings: rules.flatMap(({ rule, written }) =>
            written.pattern === null && written.action === 'allow'
              ? [{ line: rule.line ?? 1, text: `it allows everything that \`${rule.permission}\` can do` }]
              : [],
          ),
          examples: rules.flatMap(({ rule, written }) => checked(written, rule.line ?? 1)),
        };
      }
      case 'compare_rules': {
        const of = (side: { scope: RuleScope; text: string | null }) =>
          read(
            side.text ?? this.texts[side.scope === 'user' ? 'user' : 'project'],
            side.scope,
            side.scope === 'user' ? USER_FILE : PROJECT_FILE,
          ).rules.map(({ rule }) => rule);
        const [a, b] = [of(query.a), of(query.b)];
        const same = (one: Rule, other: Rule) =>
          one.permission === other.permission && one.pattern === other.pattern && one.action === other.action;
        const only_a = a.filter((one) => !b.some((other) => same(one, other)));
        return {
          type: 'compare_rules',
          only_a,
          only_b: b.filter((one) => !a.some((other) => same(one, other))),
          both: a.length - only_a.length,
          effect: this.#backtest('allow'),
        };
      }
      case 'suggestions':
        return {
          type: 'suggestions',
          suggestions: [
            {
              rule: newRule('bash', 'cargo test*', 'allow', { matches: ['cargo test -p tidemark-parser'] }),
              allowed: 38,
              rejected: 0,
              examples: this.#calls('allowed', ['cargo test -p tidemark-parser', 'cargo test --workspace']),
              counter_examples: [],
            },
            {
              rule: newRule('bash', 'cargo update*', 'allow'),
              allowed: 12,
              rejected: 3,
              examples: this.#calls('allowed', ['cargo update -w']),
              counter_examples: this.#calls('rejected', [
                'cargo update --aggressive',
                'cargo update -p openssl',
                'cargo update',
              ]),
            },
          ],
        };
      case 'imports':
        return { type: 'imports', found: [...this.imports] };
      default:
        return null;
    }
  }

  #save(scope: 'user' | 'project', base: string | null, text: string): true {
    const file = scope === 'user' ? USER_FILE : PROJECT_FILE;
    if (base !== digestOf(this.texts[scope]))
      throw new Refused(
        fault(
          `${file} changed since you began to edit it.`,
          'Look at it again, and put your change into what it is now.',
        ),
      );
    const { fault: wrong } = read(text, scope, file);
    if (wrong) throw new Refused(wrong);
    this.texts[scope] = text;
    if (scope === 'project') this.trust = 'trusted';
    return true;
  }

  #view(rule: Rule, written: NewRule, state: RuleView['state'], more: Partial<RuleView> = {}): RuleView {
    const hits =
      { 'git status*': 418, '.env*': 2, 'crates/parser/**': 31, 'cargo update*': 12 }[rule.pattern ?? ''] ??
      (rule.permission === 'mode:safe_write' ? 1204 : 0);
    return {
      rule,
      matches: written.matches,
      not_matches: written.not_matches,
      hits,
      last_used: hits > 0 ? this.now() - 5 * MINUTE_MS : null,
      uses_left: null,
      state,
      grant: null,
      ...more,
    };
  }

  #source(scope: 'user' | 'project'): RuleSource {
    const file = scope === 'user' ? USER_FILE : PROJECT_FILE;
    const text = this.texts[scope];
    const { rules, fault: wrong } = read(text, scope, file);
    const untrusted = scope === 'project' && this.trust !== 'trusted';
    const views = rules.map(({ rule, written }) =>
      this.#view(
        rule,
        written,
        untrusted && rule.action === 'allow'
          ? 'untrusted'
          : (rule.expires_ms ?? Infinity) <= this.now()
            ? 'expired'
            : 'active',
      ),
    );
    const warnings = rules
      .filter(({ rule }) => rule.pattern === null && rule.action === 'allow')
      .map(({ rule }) => ({ line: rule.line ?? 1, text: `it allows everything that \`${rule.permission}\` can do` }));
    return {
      scope,
      file,
      text,
      digest: digestOf(text),
      editable: true,
      default: null,
      rules: wrong ? [] : views,
      fault: wrong,
      warnings,
      trust: scope === 'project' ? this.trust : null,
    };
  }

  #sources(): RuleSource[] {
    const fixed = (scope: RuleScope, file: string | null, rules: RuleView[]): RuleSource => ({
      scope,
      file,
      text: null,
      digest: null,
      editable: false,
      default: null,
      rules,
      fault: null,
      warnings: [],
      trust: null,
    });
    const own = (permission: string, pattern: string, reason: string) =>
      this.#view(
        { permission, pattern, action: 'ask', reason, scope: 'builtin', file: null, line: null },
        newRule(permission, pattern, 'ask'),
        'active',
      );
    const manifest: Rule = {
      permission: 'net.fetch',
      pattern: '*.internal.tidemark.dev',
      action: 'deny',
      reason: 'Agents stay out of the internal network',
      scope: 'manifest',
      file: 'agent.toml',
      line: 22,
    };
    return [
      fixed('builtin', null, [
        own('fs.write', '.git/hooks/**', 'Code that runs by itself later on'),
        own('fs.read', '.env*', 'Secrets of their owner'),
        own('fs.write', '.countersign/**', 'Countersign’s own files'),
      ]),
      fixed('manifest', 'agent.toml', [this.#view(manifest, newRule('net.fetch', '*', 'deny'), 'active')]),
      this.#source('project'),
      this.#source('user'),
    ];
  }

  #grants(): GrantView[] {
    const one = (
      id: string,
      permission: string,
      pattern: string,
      since: number,
      more: Partial<GrantView>,
    ): GrantView => {
      const rule: Rule = {
        permission,
        pattern,
        action: 'allow',
        reason: 'Granted on a card',
        scope: more.lasts === 'session' ? 'session' : more.lasts === 'project' ? 'project' : 'user',
        file: null,
        line: null,
        grant: id,
        ...(more.until != null && { expires_ms: more.until }),
        ...(more.max_uses != null && { max_uses: more.max_uses }),
      };
      const revoked = this.#revoked.has(id) ? this.now() : null;
      return {
        id,
        lasts: 'session',
        workspace: null,
        session: null,
        rule,
        words: pattern,
        since,
        until: null,
        uses: 0,
        max_uses: null,
        hits: 0,
        last_used: null,
        made_by: { session: 'ses_0003', call: 'call_0006' },
        revoked,
        in_force: revoked === null,
        ...more,
      };
    };
    const now = this.now();
    return [
      one('grant_1', 'bash', 'cargo test -p tidemark-parser*', now - 40 * MINUTE_MS, {
        session: 'ses_0006',
        until: now + 90 * MINUTE_MS,
        uses: 6,
        hits: 6,
        last_used: now - 2 * MINUTE_MS,
      }),
      one('grant_2', 'bash', 'cargo update*', now - 7 * DAY_MS, {
        lasts: 'project',
        workspace: '/home/mira/code/tidemark',
        uses: 12,
        hits: 12,
        last_used: now - 60 * MINUTE_MS,
      }),
      one('grant_3', 'fetch', 'docs.rs', now - 4 * DAY_MS, {
        lasts: 'everywhere',
        uses: 3,
        max_uses: 5,
        hits: 3,
        last_used: now - 3 * DAY_MS,
      }),
      one('grant_4', 'bash', 'npm run lint*', now - 9 * DAY_MS, { until: now - 8 * DAY_MS, in_force: false }),
    ];
  }

  #calls(person: BacktestCall['person'], targets: readonly string[]): BacktestCall[] {
    return targets.map((target, i) => ({
      session: 'ses_0001',
      call: 'call_0003',
      at: this.now() - (i + 2) * DAY_MS,
      tool: 'bash',
      target,
      from: 'ask',
      to: 'allow',
      person,
    }));
  }

  #backtest(to: NewRule['action']): Backtest {
    if (to === 'ask') return { calls: 1_000, changed: [], examples: [], unclear: [], took_us: 8_800 };
    return {
      calls: 1_000,
      changed: [{ from: 'ask', to, calls: 41, by_person_allowed: 38, by_person_rejected: 3 }],
      examples: this.#calls('rejected', ['cargo update --aggressive', 'cargo update -p openssl', 'cargo update']),
      unclear: [{ reason: 'Their folder is gone.', calls: 4 }],
      took_us: 9_200,
    };
  }
}

/** Stands for a digest: two texts have the same one only if they are the same. */
export function digestOf(text: string): string {
  let sum = 7;
  for (const character of text) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 4_294_967_291;
  return sum.toString(16).padStart(8, '0').repeat(8);
}

function meaningOf({ pattern }: NewRule): string {
  if (pattern === null) return 'Everything.';
  if (!pattern.endsWith('*')) return `Just \`${pattern}\`, and nothing else.`;
  const words = pattern.replace(/\*+$/, '').trim().split(' ').length;
  return `Those ${words} words, then the end or more words.`;
}
