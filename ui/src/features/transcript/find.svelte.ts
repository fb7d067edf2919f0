// The search within a session. The engine finds the entries, so that those that are not in the page are found as well.

import type { SearchHit } from '../../ipc/bindings';
import { faultOf } from '../../ipc/desk';
import type { Desk } from '../../state/desk.svelte';

/** Hits that are loaded at once. */
const HITS = 50;

export class Find {
  /** Number of entries that were found; none before the first answer. */
  total: number | null = $state(null);
  /** Place of the current hit, from 0, the newest first. */
  at = $state(0);
  /** Why nothing can be searched for; empty otherwise. */
  problem = $state('');
  #text = '';
  /** Number of searches: an answer that was overtaken is not taken. */
  #searches = 0;
  /** Loaded stretches of hits, by the place of their first. */
  #stretches = new Map<number, readonly SearchHit[]>();
  readonly #desk: Desk;
  readonly #session: string;

  constructor(desk: Desk, session: string) {
    this.#desk = desk;
    this.#session = session;
  }

  /** Searches for a text, and goes to its newest hit. */
  async search(text: string): Promise<void> {
    this.#text = text.trim();
    this.#searches += 1;
    this.#stretches.clear();
    this.problem = '';
    if (this.#text === '') {
      this.total = null;
      this.#desk.reading.found = null;
      return;
    }
    await this.#go(0);
  }

  /** Goes to the next hit, an older one, or to the one before; after the last comes the first. */
  async step(by: 1 | -1): Promise<void> {
    if (!this.total) return;
    await this.#go((this.at + by + this.total) % this.total);
  }

  async #go(at: number): Promise<void> {
    const mine = this.#searches;
    try {
      const hit = await this.#hitAt(at, mine);
      if (mine !== this.#searches) return;
      this.at = at;
      if (hit) this.#show(hit);
      else this.#desk.reading.found = null;
    } catch (thrown) {
      if (mine === this.#searches) this.problem = faultOf(thrown).message;
    }
  }
  async #hitAt(at: number, mine: number): Promise<SearchHit | undefined> {
    const first = at - (at % HITS);
    const known = this.#stretches.get(first);
    if (known) return known[at - first];
    const text = `session:${this.#session} ${asBegun(this.#text)}`;
    const answer = await this.#desk.query({ type: 'search', text, offset: first, limit: HITS });
    if (mine !== this.#searches) return undefined;
    this.#stretches.set(first, answer.hits);
    this.total = answer.total;
    this.problem = answer.problem?.message ?? '';
    return answer.hits[at - first];
  }
  #show({ session, id, seq, lines }: SearchHit): void {
    const words = lines.flatMap(({ parts }) => parts.filter(({ matched }) => matched).map((part) => part.text));
    this.#desk.reading.found = { session, id, words: [...new Set(words.map((word) => word.toLowerCase()))] };
    this.#desk.navigation.show(session, { id, seq });
  }
}

/** The text with its last word as the beginning of one: it is searched for while it is typed. */
function asBegun(text: string): string {
  const quoted = (text.match(/"/g)?.length ?? 0) % 2 === 1;
  const last = text.split(/\s/).at(-1) ?? '';
  return quoted || last.includes(':') || !/[\p{L}\p{N}]$/u.test(last) ? text : `${text}*`;
}
