// The card that the keys belong to.

import type { Entry } from '../ipc/bindings';
import { isCall, type CallEntry } from './fold';
import type { Navigation } from './navigation.svelte';
import { entryKey } from './reduce';
import type { Selection } from './selection.svelte';
import type { Store } from './store.svelte';
import type { Jump } from './view';

export class Focus {
  /** Whether a text field has the focus: single letters are text then. */
  typing = $state(false);
  /** The card that last had the focus. */
  #last: Jump | null = $state.raw(null);
  /** Whether the focus is within that card now. */
  #within = $state(false);
  readonly #store: Store;
  readonly #navigation: Navigation;
  readonly #selection: Selection;

  constructor(store: Store, navigation: Navigation, selection: Selection) {
    this.#store = store;
    this.#navigation = navigation;
    this.#selection = selection;
  }

  /** The waiting cards on the open screen, in the order in which they stand. */
  readonly cards: readonly CallEntry[] = $derived.by(() => {
    const { waiting } = this.#store;
    const { view, shown } = this.#navigation;
    return view.screen === 'desk' ? waiting : waiting.filter((entry) => shown.has(entry.session));
  });

  /** The one card whose keys work: the one that last had the focus, else the first. */
  readonly owner: CallEntry | undefined = $derived.by(() => {
    const key = this.#last && entryKey(this.#last);
    return this.cards.find((entry) => entryKey(entry) === key) ?? this.cards[0];
  });

  /** Key of that card among the cards of all sessions. */
  readonly ownerKey: string | undefined = $derived(this.owner && entryKey(this.owner));

  /** Whether a card owns the keys: none does while a settled one has the focus. */
  owns(entry: Entry): boolean {
    const settled = this.#within && this.#last !== null && this.ownerKey !== entryKey(this.#last);
    return !settled && this.ownerKey === entryKey(entry);
  }

  /** A card took the focus. */
  own(entry: Entry): void {
    this.#last = { session: entry.session, id: entry.id };
    this.#within = true;
    this.#selection.pass(this.#last, isCall(entry) && entry.body.state === 'waiting');
  }
  /** A card lost the focus; a settled one then stands in the way of no other. */
  leave(entry: Entry): void {
    if (this.#last && entryKey(this.#last) === entryKey(entry)) this.#within = false;
  }
  /** Forgets which card last had the focus. */
  forget(): void {
    this.#last = null;
  }
}
