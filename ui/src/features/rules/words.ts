// Rules, sources and grants in words. Pure; times in milliseconds since 1970.

import { msg } from '../../widgets/msg';
import type {
  GrantView,
  NewRule,
  Rule,
  RuleAction,
  RuleScope,
  RuleSource,
  RulesView,
  RuleView,
} from '../../ipc/bindings';
import { baseName, count, plural } from '../../widgets/figures';
import { moment } from '../../domain/rule_limits';
import { grantReaches, grantScopes, scopes } from '../../domain/rules';

/** How rules are read, in one sentence. */
export const how = () =>
  'A matching denial of a manifest is final. Otherwise the most specific rule wins, then the one with the longer prefix. Ties: session, then project, then yours; then the stricter one.';

/** Scopes in the order of their force, as they stand in the table. */
const FORCE: readonly RuleScope[] = ['builtin', 'manifest', 'session', 'project', 'user'];

/** Sources in the order of their force. */
export function inForce(sources: readonly RuleSource[]): RuleSource[] {
  return [...sources].sort((one, other) => FORCE.indexOf(one.scope) - FORCE.indexOf(other.scope));
}

/** Returns the rules with the grants among them: those of the folder, and those of the session. */
export function withGrants(view: RulesView, session: string | null): RulesView {
  const known = new Set(
    view.sources.flatMap((source) => source.rules.flatMap((one) => one.grant ?? one.rule.grant ?? [])),
  );
  const granted = view.grants.filter(
    (grant) =>
      grant.in_force &&
      !known.has(grant.id) &&
      (grant.lasts === 'everywhere' ||
        (grant.lasts === 'project' ? grant.workspace === view.workspace : grant.session === session)),
  );
  const rulesOf = (scope: RuleScope): RuleView[] =>
    granted
      .filter((grant) => grantScopes[grant.lasts] === scope)
      .map((grant) => ({
        rule: grant.rule,
        matches: [],
        not_matches: [],
        hits: grant.hits,
        last_used: grant.last_used,
        uses_left: grant.max_uses === null ? null : Math.max(0, grant.max_uses - grant.uses),
        state: 'active',
        grant: grant.id,
      }));
  const sources = view.sources.map((source) => ({ ...source, rules: [...source.rules, ...rulesOf(source.scope)] }));
  const none: RuleSource = {
    scope: 'session',
    file: null,
    text: null,
    digest: null,
    editable: false,
    default: null,
    rules: rulesOf('session'),
    fault: null,
    warnings: [],
    trust: null,
  };
  return { ...view, sources: sources.some((source) => source.scope === 'session') ? sources : [...sources, none] };
}

/** A rule's key: where it stands, so that it is the same after its file was read anew. */
export function keyOf(source: RuleSource, view: RuleView, i: number): string {
  return view.grant ?? view.rule.grant ?? `${source.scope} ${source.file ?? ''} ${view.rule.line ?? `#${i}`}`;
}

/** A rule with its source and place. */
export interface Found {
  source: RuleSource;
  view: RuleView;
  key: string;
  /** The line of the next rule of its file; none if it is the last. */
  next: number | null;
}

/** The rules that a test holds for. */
function find(view: RulesView | null, holds: (found: Found) => boolean): Found | undefined {
  for (const source of view?.sources ?? []) {
    for (const [i, one] of source.rules.entries()) {
      const line = one.rule.line ?? 0;
      const later = source.rules.flatMap((other) => ((other.rule.line ?? 0) > line ? [other.rule.line ?? 0] : []));
      const found = {
        source,
        view: one,
        key: keyOf(source, one, i),
        next: later.length === 0 ? null : Math.min(...later),
      };
      if (holds(found)) return found;
    }
  }
  return undefined;
}
/** The rule with a key. */
export function rulesByKey(view: RulesView | null, key: string): Found | undefined {
  return find(view, (found) => found.key === key);
}
/** The rule that a trail names: the same words from the same scope, in its line if it still stands there. */
export function matchingRules(
  view: RulesView | null,
  rule: Pick<Rule, 'scope' | 'permission' | 'pattern' | 'action' | 'line' | 'grant'>,
): Found | undefined {
  const same = ({ view: { rule: own } }: Found) =>
    own.scope === rule.scope &&
    own.permission === rule.permission &&
    own.pattern === rule.pattern &&
    own.action === rule.action;
  return (
    find(
      view,
      (found) =>
        (rule.grant !== undefined && found.key === rule.grant) || (same(found) && found.view.rule.line === rule.line),
    ) ?? find(view, same)
  );
}

/** Returns the note beside a source's name. */
export function noteOf(source: RuleSource, session: string | undefined, home: (path: string) => string): string {
  const file = source.file === null ? '' : home(source.file);
  switch (source.scope) {
    case 'builtin':
      return 'protections; only a rule that names the very place overrides one';
    case 'manifest':
      return file ? `${baseName(file)}; denials here are final` : 'denials here are final';
    case 'session':
      return session ?? 'granted on its cards';
    case 'project':
      return `${file || 'rules.toml'} in the repository`;
    case 'user':
      return file ? msg(`everywhere, ${file}`) : msg('everywhere');
  }
}

/** Describes the rules of an untrusted file that would allow: "2 of its 5 rules would allow". */
export function wantsWords(source: RuleSource): string {
  const own = source.rules.filter(({ grant }) => grant === null);
  const loosening = own.filter(({ rule }) => rule.action === 'allow').length;
  if (loosening === 0) return 'Its rules only restrict, so they already apply.';
  const which =
    own.length === 1
      ? 'Its only rule'
      : loosening === own.length
        ? `All its ${count(loosening)} rules`
        : `${count(loosening)} of its ${plural(own.length, ['# rule', '# rules'])}`;
  return `${which} would allow; until you trust the file ${loosening === 1 ? (own.length === 1 ? 'it does' : 'that one does') : 'those do'} nothing.`;
}

/** Returns the notes on the state of a rule: expired, used up or not trusted, and how long the rule still holds. */
export function standingOf({ rule, state, uses_left }: RuleView, now: number): { text: string; over: boolean }[] {
  const out: { text: string; over: boolean }[] = [];
  if (state === 'untrusted') out.push({ text: 'not in force until trusted', over: true });
  if (state === 'spent') out.push({ text: 'used up', over: true });
  if (state === 'expired')
    out.push({
      text: rule.expires_ms === undefined ? msg('expired') : `expired ${moment(rule.expires_ms, now)}`,
      over: true,
    });
  if (state === 'active' && rule.expires_ms !== undefined)
    out.push({ text: `until ${moment(rule.expires_ms, now)}`, over: false });
  if (state === 'active' && uses_left !== null)
    out.push({ text: `${plural(uses_left, ['# use', '# uses'])} left`, over: false });
  return out;
}

/** How long a grant lasts: "Session, to 13:00", "Project", "5 uses, 2 left". */
export function lastsWords(grant: GrantView, now: number): string {
  const parts = [
    grant.max_uses === null || grant.lasts !== 'everywhere' ? grantReaches[grant.lasts] : '',
    grant.until === null ? '' : `to ${moment(grant.until, now)}`,
    grant.max_uses === null
      ? ''
      : `${plural(grant.max_uses, ['# use', '# uses'])}, ${Math.max(0, grant.max_uses - grant.uses)} left`,
  ];
  return parts.filter(Boolean).join(', ');
}

/** Why a grant holds no more. */
export function endedWords(grant: GrantView, now: number): string {
  if (grant.revoked !== null) return `revoked ${moment(grant.revoked, now)}`;
  if (grant.max_uses !== null && grant.uses >= grant.max_uses) return 'used up';
  return grant.until !== null && grant.until <= now ? `expired ${moment(grant.until, now)}` : 'over with its session';
}

/** Returns the place of a rule of a file: "Project · rules.toml:18". */
export function placeWords({ source, view }: Pick<Found, 'source' | 'view'>): string {
  const file =
    source.file === null ? '' : ` · ${baseName(source.file)}${view.rule.line === null ? '' : `:${view.rule.line}`}`;
  return `${scopes[source.scope]}${file}`;
}

/** Returns a rule as a draft that can be changed or tried. */
export function draftOf({ rule, matches, not_matches }: RuleView): NewRule {
  return {
    permission: rule.permission,
    pattern: rule.pattern,
    action: rule.action,
    reason: rule.reason,
    matches,
    not_matches,
    expires_ms: rule.expires_ms ?? null,
    max_uses: rule.max_uses ?? null,
  };
}

/** A rule of which nothing is written yet. */
export const BLANK: NewRule = {
  permission: 'bash',
  pattern: '',
  action: 'ask',
  reason: null,
  matches: [],
  not_matches: [],
  expires_ms: null,
  max_uses: null,
};

/** Tells whether adding a rule can make a verdict weaker. */
export function isLoosening(action: RuleAction): boolean {
  return action === 'allow';
}
