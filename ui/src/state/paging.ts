// Loads stretches of transcripts, one after the other for each session.

import type { Query } from '../ipc/bindings';
import type { AnswerTo } from '../ipc/desk';
import type { Page, withPage } from './reduce';

/** The number of entries that are loaded at once. */
const PAGE_ENTRIES = 200;

type Join = Parameters<typeof withPage>;

/** Interface of the store that paging needs. */
export interface Pages {
  query<Q extends Query>(query: Q): Promise<AnswerTo<Q>>;
  page(session: string): Page | undefined;
  /** Marks a stretch as asked for: events of its session from now on may not be in it. */
  awaiting(session: string): void;
  /** Marks that no stretch of the session is waited for any more. */
  awaited(session: string): void;
  /** Loaded stretches join the page of their session. */
  join(session: string, loaded: Join[2], side: Join[3], rest?: Join[4]): void;
  /** A stretch of the session could not be loaded. */
  refused(session: string, thrown: unknown): void;
}

export class Paging {
  readonly #pages: Pages;
  readonly #loading = new Map<string, Promise<void>>();

  constructor(pages: Pages) {
    this.#pages = pages;
  }

  /** Loads the last page of a session anew, and so goes to its end. */
  end(session: string): Promise<void> {
    return this.#load(session, async () => {
      const answer = await this.#pages.query({ type: 'transcript', session, before: null, limit: PAGE_ENTRIES });
      this.#pages.join(session, [answer], 'instead', { older: answer.more, newer: false });
    });
  }

  /** Loads the page around a position, in place of the current page. */
  around(session: string, seq: number): Promise<void> {
    const half = PAGE_ENTRIES / 2;
    return this.#load(session, async () => {
      const [before, from] = await Promise.all([
        this.#pages.query({ type: 'transcript', session, before: seq, limit: half }),
        this.#pages.query({ type: 'transcript_from', session, from: seq, limit: half }),
      ]);
      this.#pages.join(session, [before, from], 'instead', { older: before.more, newer: from.more });
    });
  }

  /** Loads the stretch before the page, if there is one and nothing is being loaded. */
  older(session: string): Promise<void> {
    const page = this.#pages.page(session);
    const first = page?.entries[0];
    if (!page?.older || !first || this.#loading.has(session)) return Promise.resolve();
    return this.#load(session, async () => {
      const answer = await this.#pages.query({ type: 'transcript', session, before: first.seq, limit: PAGE_ENTRIES });
      this.#pages.join(session, [answer], 'older');
    });
  }

  /** Loads the stretch after the page, if there is one and nothing is being loaded. */
  newer(session: string): Promise<void> {
    const page = this.#pages.page(session);
    const last = page?.entries.at(-1);
    if (!page?.newer || !last || this.#loading.has(session)) return Promise.resolve();
    return this.#load(session, async () => {
      const answer = await this.#pages.query({
        type: 'transcript_from',
        session,
        from: last.seq + 1,
        limit: PAGE_ENTRIES,
      });
      this.#pages.join(session, [answer], 'newer');
    });
  }

  /** One load after the other for each session. */
  async #load(session: string, load: () => Promise<void>): Promise<void> {
    const before = this.#loading.get(session);
    this.#pages.awaiting(session);
    const mine = (before ?? Promise.resolve())
      .then(load)
      .catch((thrown: unknown) => this.#pages.refused(session, thrown));
    this.#loading.set(session, mine);
    await mine;
    if (this.#loading.get(session) !== mine) return;
    this.#loading.delete(session);
    this.#pages.awaited(session);
  }
}
