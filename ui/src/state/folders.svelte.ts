// The folder in which tools are tried and whose rules are shown.

import type { Store } from './store.svelte';

/** How many folders are at hand at most. */
const FOLDERS_MAX = 8;

export class Folders {
  /** The one that the person chose; none while nobody chose one. */
  chosen: string | null = $state(null);
  readonly #store: Store;
  /** The chosen one, else that of the newest session. An effect that reads it runs again only once it is another one. */
  readonly current: string | null = $derived.by(() => this.chosen ?? this.#store.sessions[0]?.workspace ?? null);

  constructor(store: Store) {
    this.#store = store;
  }

  /** The folders at hand: the chosen one and those of the newest sessions. */
  get all(): string[] {
    const sessions = this.#store.sessions.map((session) => session.workspace);
    return [...new Set([...(this.chosen ? [this.chosen] : []), ...sessions])].slice(0, FOLDERS_MAX);
  }
  /** Lets the person choose another folder. */
  async choose(): Promise<void> {
    this.chosen = (await this.#store.pickFolder(this.current ?? undefined)) ?? this.chosen;
  }
}
