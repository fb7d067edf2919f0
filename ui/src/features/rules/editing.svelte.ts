// One rule while a person writes it: its members, the engine's check, and the text that would be saved.

import { msg } from '../../widgets/msg';
import type { Backtest, NewRule, RuleChange, RuleCheck, RuleLocation, RuleSource } from '../../ipc/bindings';
import { Asking } from '../../state/asking.svelte';
import { BLANK } from './words';

/** Owner of the files that are written here. */
export type OwnScope = 'user' | 'project';
/** Number of the newest calls that a rule is backtested on. */
export const CALLS_MAX = 1_000;
const CHECK_AFTER_MS = 150;
const TEST_AFTER_MS = 300;

/** A rule, and the rule of a file that it is to replace. */
export interface Asked {
  rule: NewRule;
  instead?: RuleLocation;
}
/** The questions to the engine. */
export interface Engine {
  check(asked: Asked): Promise<RuleCheck>;
  backtest(change: RuleChange): Promise<Backtest>;
}

/** Problem of a rule as it stands, and the next step. */
interface Blocked {
  message: string;
  hint: string;
}

export class Editing {
  /** The rule as it was when it began to be written. */
  readonly before: NewRule;
  /** The line that it begins in; none: it is new. */
  readonly line: number | null;
  scope: OwnScope = $state('user');
  #rule: NewRule = $state.raw(null!);
  /** Maximum number of uses; `undefined` while the typed text is no number. */
  uses: number | null | undefined = $state(null);
  /** Time at which the rule ends; `undefined` while the typed text is no time. */
  until: number | null | undefined = $state(null);
  readonly check: Asking<Asked, RuleCheck>;
  readonly test: Asking<RuleChange, Backtest>;

  constructor(engine: Engine, rule: NewRule, scope: OwnScope, line: number | null) {
    this.before = rule;
    this.line = line;
    this.scope = scope;
    this.#rule = rule;
    this.uses = rule.max_uses;
    this.until = rule.expires_ms;
    this.check = new Asking((asked) => engine.check(asked), CHECK_AFTER_MS);
    this.test = new Asking((asked) => engine.backtest(asked), TEST_AFTER_MS);
  }

  /** The rule as it is written in the form, empty examples included. */
  get form(): NewRule {
    return this.#rule;
  }
  write(changes: Partial<NewRule>): void {
    this.#rule = { ...this.#rule, ...changes };
  }
  /** The rule as it would be saved. */
  get rule(): NewRule {
    const { pattern, reason, matches, not_matches, ...rest } = this.#rule;
    const filled = (texts: readonly string[]) => texts.filter((text) => text.trim() !== '');
    return {
      ...rest,
      permission: rest.permission.trim(),
      pattern: pattern === null || pattern.trim() === '' ? null : pattern.trim(),
      reason: reason === null || reason.trim() === '' ? null : reason.trim(),
      matches: filled(matches),
      not_matches: filled(not_matches),
      expires_ms: this.until ?? null,
      max_uses: this.uses ?? null,
    };
  }
  get changed(): boolean {
    return (
      (this.line === null && this.before !== BLANK) ||
      JSON.stringify(this.rule) !== JSON.stringify({ ...this.before, pattern: this.before.pattern || null })
    );
  }

  /** Returns the place of the rule in the file that was read; none for a new rule, or without a file. */
  place(source: RuleSource | undefined, workspace: string | null): RuleLocation | undefined {
    const { scope, line } = this;
    return line === null || !source?.digest
      ? undefined
      : { scope, workspace: scope === 'project' ? workspace : null, line, base: source.digest };
  }
  /** Returns the question to the engine about the rule. */
  asked(source: RuleSource | undefined, workspace: string | null): Asked {
    const instead = this.place(source, workspace);
    return { rule: this.rule, ...(instead && { instead }) };
  }

  /** Returns the change that saving or deleting would make; none while the rule has a fault or is unchanged. */
  change(removing: boolean): RuleChange | null {
    const { rule, scope, line } = this;
    if (line !== null && removing) return { type: 'remove', scope, line };
    if (this.check.busy || this.check.reply?.fault !== null || !this.changed) return null;
    return line === null ? { type: 'add', rule, scope } : { type: 'change', scope, line, rule };
  }

  /** How many examples there are, and how many of them fail. */
  get examples(): { all: number; failing: number } {
    const all = this.check.reply?.examples ?? [];
    return { all: all.length, failing: all.filter((example) => !example.holds).length };
  }

  /** Why it cannot be saved; none if it can. */
  blocked(source: RuleSource | undefined): Blocked | null {
    const { all, failing } = this.examples;
    if (this.scope === 'project' && source !== undefined && source.trust !== 'trusted' && (source.text ?? '') !== '')
      return {
        message: 'The project’s file is not trusted yet, and saving would trust all of it.',
        hint: 'Look at it first.',
      };
    if (failing > 0)
      return {
        message: `${failing} of ${all} ${all === 1 ? msg('example') : msg('examples')} ${failing === 1 ? msg('fails') : msg('fail')}, so this rule cannot be saved.`,
        hint: 'Change the rule or the example.',
      };
    if (this.check.reply?.fault) return this.check.reply.fault;
    if (this.check.trouble !== '') return { message: `The rule could not be checked: ${this.check.trouble}`, hint: '' };
    if (this.uses === undefined || this.until === undefined)
      return { message: 'How long it lasts cannot be read.', hint: 'Correct it above.' };
    return null;
  }
}
