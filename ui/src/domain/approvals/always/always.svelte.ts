// *Always…* of one card: the grants on offer, and the rule that would be made, while a person chooses.

import type {
  Backtest,
  GrantOffer,
  GrantOffers,
  GrantRequest,
  GrantScope,
  NewRule,
  RuleChange,
  RuleCheck,
} from '../../../ipc/bindings';
import { Asking } from '../../../state/asking.svelte';
import { grantScopes } from '../../rules';

/** Number of the newest calls that a grant is backtested on. */
export const CALLS_MAX = 1_000;
const ASK_AFTER_MS = 200;

/** The answer that the rule goes along with. */
export type Answer = 'allow' | 'deny';

/** State of the button *Always…*; none: the button is left out. */
type AlwaysButton = 'loading' | 'refused' | 'offered' | 'open' | null;

/** Queries to the engine. */
export interface Engine {
  offers(): Promise<GrantOffers>;
  check(rule: NewRule): Promise<RuleCheck>;
  backtest(change: RuleChange): Promise<Backtest>;
}

export class AlwaysPick {
  /** The engine's answer for this card; none before it came. */
  #told: GrantOffers | null = $state.raw(null);
  /** Whether the engine was asked and has not answered. */
  #waits = $state(false);
  /** The answer whose rule is being chosen; none while the picker is closed. */
  open: Answer | null = $state(null);
  readonly #engine: Engine;
  #asked = 0;
  #at = $state(0);
  #pattern: string | null = $state(null);
  #lasts: GrantScope = $state('session');
  #until: number | null | undefined = $state(null);
  #uses: number | null | undefined = $state(null);
  /** Time at which the grant last changed, by the clock of presses. */
  changedAt = Number.NEGATIVE_INFINITY;
  readonly check: Asking<NewRule, RuleCheck>;
  readonly test: Asking<RuleChange, Backtest>;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.check = new Asking((rule) => engine.check(rule), ASK_AFTER_MS);
    this.test = new Asking((change) => engine.backtest(change), ASK_AFTER_MS);
  }

  /** Asks for the grants on offer from the digest shown, if an answer is asked for; true once they are known. */
  async renew(asks: boolean): Promise<boolean> {
    const asked = (this.#asked += 1);
    this.#told = null;
    this.open = null;
    this.#waits = asks;
    const told = asks ? await this.#engine.offers().catch(() => null) : null;
    if (asked !== this.#asked) return false;
    this.#waits = false;
    if (told === null) return false;
    this.#told = told;
    return true;
  }
  /** Opens the picker for an answer, or closes it; whether there is something to choose. */
  toggle(answer: Answer): boolean {
    if (this.offersFor(answer).length === 0) return false;
    this.open = this.open === null ? answer : null;
    if (this.open === null) return true;
    this.#until = null;
    this.#uses = null;
    this.take(0);
    return true;
  }
  /** Returns the grants that may go along with an answer, the narrowest first. */
  offersFor(answer: Answer): readonly GrantOffer[] {
    return this.#told?.offers.filter((offer) => offer.action === answer) ?? [];
  }
  /** Grants to choose from. */
  get offers(): readonly GrantOffer[] {
    return this.offersFor(this.open ?? 'allow');
  }
  /**
   * State of the button *Always…*. Its place is kept from the moment at which the card is drawn, so that no answer
   * moves.
   */
  get button(): AlwaysButton {
    if (this.open) return 'open';
    if (this.offers.length > 0) return 'offered';
    if (this.#waits) return 'loading';
    return this.refused === '' ? null : 'refused';
  }
  /** Why nothing may be allowed from now on; empty if something may, or nothing is known. */
  get refused(): string {
    return this.offersFor('allow').length > 0 ? '' : (this.#told?.refused ?? '');
  }
  get offer(): GrantOffer | undefined {
    return this.offers[this.#at];
  }

  /** Begins from an offer. */
  take(at: number): void {
    this.#at = at;
    this.#pattern = this.offer?.pattern ?? null;
    const { lasts } = this;
    if (this.offer && !this.offer.lasts.includes(lasts)) this.#lasts = this.offer.lasts[0] ?? 'session';
    this.#changed();
  }
  get pattern(): string | null {
    return this.#pattern;
  }
  set pattern(pattern: string | null) {
    this.#pattern = pattern;
    this.#changed();
  }
  get lasts(): GrantScope {
    return this.#lasts;
  }
  set lasts(lasts: GrantScope) {
    this.#lasts = lasts;
    this.#changed();
  }
  get until(): number | null | undefined {
    return this.#until;
  }
  set until(until: number | null | undefined) {
    this.#until = until;
    this.#changed();
  }
  get uses(): number | null | undefined {
    return this.#uses;
  }
  set uses(uses: number | null | undefined) {
    this.#uses = uses;
    this.#changed();
  }
  #changed(): void {
    this.changedAt = performance.now();
  }

  /** Whether it is for the very call that is shown and no other: then there is no pattern to choose. */
  get exactly(): boolean {
    return this.offer?.exactly ?? false;
  }
  /** The rule as it would be saved; none where it is for one call alone, which no rule of a file could say. */
  get rule(): NewRule | null {
    if (!this.offer || this.exactly) return null;
    const pattern = this.#pattern?.trim() ?? null;
    return {
      permission: this.offer.permission,
      pattern: pattern === '' ? null : pattern,
      action: this.open ?? 'allow',
      reason: null,
      matches: [],
      not_matches: [],
      expires_ms: this.#until ?? null,
      max_uses: this.#uses ?? null,
    };
  }
  /** Asks the engine to check the chosen rule, and to backtest it once it is sound. */
  ask(): void {
    const rule = this.open === null ? null : this.rule;
    this.check.put(rule);
    const sound = rule !== null && !this.check.busy && !this.check.reply?.fault;
    if (rule === null || sound) this.test.put(rule && { type: 'add', rule, scope: grantScopes[this.#lasts] });
  }
  /** Why the rule cannot be granted as it stands; empty if it can. */
  get trouble(): string {
    if (this.#until === undefined || this.#uses === undefined) return 'How long it lasts cannot be read.';
    // Everything that a permission names is offered as such, or not at all.
    if (this.rule?.pattern === null && this.offer?.pattern !== null)
      return 'Without a pattern it would cover everything.';
    const fault = this.check.reply?.fault;
    // Where it cannot be checked beforehand, the engine refuses what it cannot grant.
    return fault ? `${fault.message} ${fault.hint}`.trim() : '';
  }
  /**
   * Returns the grant that goes along with an answer: none (null), a rule, or one that cannot be made as it stands
   * (undefined).
   */
  alongWith(answer: Answer): GrantRequest | null | undefined {
    const { offer, trouble } = this;
    if (this.open !== answer) return null;
    if (!offer || trouble !== '' || this.check.busy) return undefined;
    const what = this.exactly ? { pattern: null, exactly: true } : { pattern: this.rule?.pattern ?? null };
    return {
      lasts: this.#lasts,
      permission: offer.permission,
      ...what,
      ...(this.#until != null && { until_ms: this.#until }),
      ...(this.#uses != null && { max_uses: this.#uses }),
    };
  }
}
