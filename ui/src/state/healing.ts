// Asks anew for what events alone could not tell: one question at a time, until nothing is stale any more.

import type { EngineView } from '../ipc/bindings';
import { healed, healedBy, type State } from './reduce';

/** Pause before a snapshot that told nothing new is asked for again, in milliseconds. */
const PAUSE_MS = 100;

/** Interface of the store that healing needs. */
interface Stale {
  snapshot(): Promise<EngineView>;
  state(): State;
  put(state: State): void;
  /** Whether the transcript of the session is open. */
  shown(session: string): boolean;
  /** Loads the end of a session's transcript anew. */
  load(session: string): Promise<void>;
  refused(thrown: unknown): void;
}

export class Healing {
  readonly #stale: Stale;
  #busy = false;

  constructor(stale: Stale) {
    this.#stale = stale;
  }

  /** Heals what is stale now and what becomes stale meanwhile. After a refusal the next event asks again. */
  async run(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    try {
      while (this.#stale.state().stale.size > 0) await this.#once();
    } catch (thrown) {
      this.#stale.refused(thrown);
    } finally {
      this.#busy = false;
    }
  }

  async #once(): Promise<void> {
    const snapshot = await this.#stale.snapshot();
    // Read after the wait: events received meanwhile stay.
    const state = this.#stale.state();
    const sessions = healedBy(state, snapshot);
    this.#stale.put(healed(state, snapshot));
    if (sessions.length === 0) await new Promise((done) => setTimeout(done, PAUSE_MS));
    await Promise.all(
      sessions.filter((session) => this.#stale.shown(session)).map((session) => this.#stale.load(session)),
    );
  }
}
