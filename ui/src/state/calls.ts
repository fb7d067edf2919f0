// Words about calls and rules that several features use.

import type { CallView } from '../ipc/bindings/CallView';
import type { Rule } from '../ipc/bindings/Rule';
import type { RuleScope } from '../ipc/bindings/RuleScope';
import type { IconName } from '../widgets/icons';

/** The icon of a call: its kind, or what it shows where that says more. */
export function iconOf(view: CallView): IconName {
  if (view.preview.type === 'form') return 'question';
  if (view.preview.type === 'todo') return 'todo';
  return view.kind;
}

const scopes: Record<RuleScope, string> = { manifest: 'Agent', user: 'You', project: 'Project', session: 'Session' };

/** Where a rule stands: "Project · rules.toml:4". */
export function placeOfRule(rule: Rule): string {
  const file = rule.file?.split(/[\\/]/).at(-1);
  if (!file) return scopes[rule.scope];
  return `${scopes[rule.scope]} · ${file}${rule.line === null ? '' : `:${rule.line}`}`;
}

/** A rule in words: "fs.write .env*". */
export function ruleWords(rule: Rule): string {
  return rule.pattern === null ? rule.permission : `${rule.permission} ${rule.pattern}`;
}
