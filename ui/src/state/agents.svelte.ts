// The agents of other people that can answer in a session: which are on this machine, and what a session's answerer is called.

import type { AcpProgram, ModelChoice } from '../ipc/bindings';
import { baseName } from '../widgets/figures';
import type { Store } from './store.svelte';

/** Provider of a session in which an agent of somebody else answers; its model is the agent's id, or a command line. */
export const AGENT_PROVIDER = 'agent';

/** Whether an agent of somebody else answers, which cannot hand in a plan. */
export function isAgent({ provider }: ModelChoice): boolean {
  return provider === AGENT_PROVIDER;
}

/** An agent that can answer in a session once its program is installed. */
export interface Agent extends AcpProgram {
  id: string;
  title: string;
}

export class Agents {
  all: readonly Agent[] = $state.raw([]);
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The agents whose program is on this machine. */
  get installed(): readonly Agent[] {
    return this.all.filter(({ program }) => program !== null);
  }

  /** Looks for the agents again: programs are installed without an event. */
  async load(): Promise<void> {
    try {
      const found = await this.#store.listConnections();
      this.all = found.flatMap(({ id, title, acp }) => (acp ? [{ id, title, ...acp }] : []));
    } catch {
      // The Connections screen says why they cannot be listed.
    }
  }

  /** Names what answers in a session: a model, an agent by its title, or the program of a command line. */
  nameOf(choice: ModelChoice): string {
    const { provider, model } = choice;
    if (!isAgent(choice)) return model || provider;
    const known = this.all.find(({ id }) => id === model);
    return known?.title ?? baseName(model.split(/\s/, 1)[0] ?? model);
  }
}
