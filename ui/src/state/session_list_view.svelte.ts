// How the list of sessions is shown in this window: kept over a restart, but for the filter.

import type { ListView } from './session_groups';

/** Storage key. */
const KEPT = 'session-list';

export class SessionListView implements ListView {
  filter = $state('');
  #byFolder = $state(false);
  #archive = $state(false);

  constructor() {
    const kept = read();
    this.#byFolder = kept.includes('byFolder');
    this.#archive = kept.includes('archive');
  }

  get byFolder(): boolean {
    return this.#byFolder;
  }
  set byFolder(on: boolean) {
    this.#byFolder = on;
    this.#keep();
  }
  get archive(): boolean {
    return this.#archive;
  }
  set archive(on: boolean) {
    this.#archive = on;
    this.#keep();
  }

  #keep(): void {
    const on = [...(this.#byFolder ? ['byFolder'] : []), ...(this.#archive ? ['archive'] : [])];
    localStorage.setItem(KEPT, JSON.stringify(on));
  }
}

function read(): unknown[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEPT) ?? '[]');
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}
