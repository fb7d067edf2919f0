// Rules in words: what a rule says, and where it is defined. Pure.

import { msg } from '../widgets/msg';
import type { GrantScope, Rule, RuleAction, RuleScope } from '../ipc/bindings';
import type { IconName } from '../widgets/icons';

/** Icon, text and colour of each action of a rule. */
export const actions: Record<RuleAction, { icon: IconName; text: string; ink: 'done' | 'waiting' | 'failed' }> = {
  allow: { icon: 'check', text: 'Allow', ink: 'done' },
  ask: { icon: 'waiting', text: 'Ask', ink: 'waiting' },
  deny: { icon: 'denied', text: 'Deny', ink: 'failed' },
};

/** Owner of the rules of each scope. */
export const scopes: Record<RuleScope, string> = {
  builtin: 'Built in',
  manifest: 'Manifest',
  user: 'You',
  project: 'Project',
  session: 'Session',
};

/** How far a grant reaches. */
export const grantReaches: Record<GrantScope, string> = {
  session: 'Session',
  project: 'Project',
  everywhere: 'Everywhere',
};
/** How far a grant reaches, as the end of a sentence. */
export const grantsIn: Record<GrantScope, string> = {
  session: 'for this session',
  project: 'in this project',
  everywhere: msg('everywhere'),
};
/** The scope that a grant's rule has among the others. */
export const grantScopes: Record<GrantScope, RuleScope> = {
  session: 'session',
  project: 'project',
  everywhere: 'user',
};

/** Returns the place of a rule: "Project · rules.toml:4". */
export function placeOfRule(rule: Rule): string {
  const file = rule.file?.split(/[\\/]/).at(-1);
  if (!file) return scopes[rule.scope];
  return `${scopes[rule.scope]} · ${file}${rule.line === null ? '' : `:${rule.line}`}`;
}

/** A rule in words: "fs.write .env*". */
export function ruleWords(rule: Pick<Rule, 'permission' | 'pattern'>): string {
  return rule.pattern === null ? rule.permission : `${rule.permission} ${rule.pattern}`;
}
