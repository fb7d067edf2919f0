// The selected call, in the inspector or beside its card.

import type { Entry } from '../ipc/bindings';
import { isCall, type CallEntry } from './fold';
import type { Navigation } from './navigation.svelte';
import type { Store } from './store.svelte';
import type { Jump } from './view';

export class Selection {
  /** Whether the person opened or closed the inspector; none while they did neither. */
  inspectorOpen: boolean | null = $state(null);
  #call: Jump | null = $state.raw(null);
  /** Whether the call is selected because it had the focus, not because the person chose it. */
  #passing = $state(false);
  readonly #store: Store;
  readonly #navigation: Navigation;
  /** The card that owns the keys. */
  readonly #owner: () => CallEntry | undefined;

  constructor(store: Store, navigation: Navigation, owner: () => CallEntry | undefined) {
    this.#store = store;
    this.#navigation = navigation;
    this.#owner = owner;
  }

  /** The selected call; none once a card that was only answered gave way to the next. */
  get selected(): Jump | null {
    const call = this.#call;
    const entry = this.#passing && call ? this.#store.entry(call.session, call.id) : undefined;
    return entry && isCall(entry) && entry.body.state !== 'waiting' && this.#owner() ? null : call;
  }
  /** Looks at a call in the inspector. */
  inspect(call: Jump | null): void {
    this.#call = call;
    this.#passing = false;
    if (call) this.inspectorOpen = true;
  }
  /** Looks at a call, in the inspector if that is open. */
  look({ session, id }: Pick<Entry, 'session' | 'id'>): void {
    this.#call = { session, id };
    this.#passing = false;
  }
  /** Looks at a call that has the focus; while it waits that is in passing, and ends with its answer. */
  pass(call: Jump, waits: boolean): void {
    this.#call = call;
    this.#passing = waits;
  }
  /** The call in the inspector: the selected one, else the one that owns the keys. */
  get inspected(): CallEntry | undefined {
    const call = this.selected;
    const { view, shown } = this.#navigation;
    const here = call && (view.screen === 'desk' || shown.has(call.session));
    const entry = here ? this.#store.entry(call.session, call.id) : undefined;
    return entry && isCall(entry) ? entry : this.#owner();
  }
}
