// The rule that is offered after several like answers: one at a time, until the person takes or dismisses it.

import type { Event, RuleSuggestion } from '../ipc/bindings';
import type { Navigation } from './navigation.svelte';
import type { Store } from './store.svelte';

/** Storage key of the dismissed rules. */
const DISMISSED = 'dismissed-rules';
/** Number of dismissed rules that are remembered. */
const DISMISSED_MAX = 100;

export class RuleOffer {
  /** The offered rule; none while there is none. */
  current: RuleSuggestion | null = $state.raw(null);
  /** Folder of the calls that the rule would have answered. */
  #workspace = '';
  #asked = 0;
  readonly #store: Store;
  readonly #navigation: Navigation;

  constructor(store: Store, navigation: Navigation) {
    this.#store = store;
    this.#navigation = navigation;
  }

  /** Asks for an offer if one of the events is a call that the person allowed this once. */
  async take(events: readonly Event[]): Promise<void> {
    const allowed = events.findLast(
      ({ body }) => body.type === 'call_decided' && body.decision.type === 'allow' && !body.decision.always,
    );
    if (allowed?.body.type !== 'call_decided') return;
    const { session } = allowed;
    const asked = ++this.#asked;
    // An offer is a courtesy: where it cannot be had, nothing is said.
    const reply = await this.#store.query({ type: 'rule_offer', session, call: allowed.body.call }).catch(() => null);
    if (asked !== this.#asked || !reply?.offer || dismissed().includes(keyOf(reply.offer))) return;
    this.#workspace = this.#store.session(session)?.workspace ?? '';
    this.current = reply.offer;
  }

  /** Begins to write the offered rule, beside what it would have done on record. */
  begin(): void {
    if (!this.current) return;
    this.#navigation.beginRule(this.current.rule, this.#workspace);
    this.current = null;
  }

  /** Drops the offered rule: it is not offered again. */
  dismiss(): void {
    if (!this.current) return;
    const kept = [...dismissed(), keyOf(this.current)].slice(-DISMISSED_MAX);
    localStorage.setItem(DISMISSED, JSON.stringify(kept));
    this.current = null;
  }
}

const keyOf = ({ rule }: RuleSuggestion): string => JSON.stringify([rule.permission, rule.pattern]);

function dismissed(): string[] {
  const kept: unknown = JSON.parse(localStorage.getItem(DISMISSED) ?? '[]');
  return Array.isArray(kept) ? kept.filter((key) => typeof key === 'string') : [];
}
