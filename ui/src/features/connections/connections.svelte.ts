// The state of the Connections screen: the agents as they were found, the change that is looked at, and refusals.

import type { ConnectionAction, ConnectionPlan, ConnectionView, UserError } from '../../ipc/bindings';
import { faultOf } from '../../ipc/desk';
import type { Desk } from '../../state/desk.svelte';
import { actionWords, importWords } from './words';

/** A change that the person looks at before it is made. */
export interface ShownChange {
  agent: ConnectionView;
  action: ConnectionAction;
  plan: ConnectionPlan;
}

export class Connections {
  all: readonly ConnectionView[] = $state.raw([]);
  /** Why the agents cannot be listed. */
  fault: UserError | null = $state.raw(null);
  loaded = $state(false);
  shown: ShownChange | null = $state.raw(null);
  /** Why the last act was refused, and on which agent. */
  refusal: { agent: string; fault: UserError } | null = $state.raw(null);
  /** The agent whose sessions are being imported. */
  importing: string | null = $state(null);
  #busy = false;
  readonly #desk: Desk;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /** Agents that are on this machine, or were connected on it. */
  get here(): readonly ConnectionView[] {
    return this.all.filter(isHere);
  }
  get absent(): readonly ConnectionView[] {
    return this.all.filter((agent) => !isHere(agent));
  }

  async load(): Promise<void> {
    try {
      this.all = await this.#desk.listConnections();
      this.fault = null;
    } catch (thrown) {
      this.fault = faultOf(thrown);
    }
    this.loaded = true;
  }

  /** Shows the change that an act would make. Where there is nothing to change, the agents are looked at again. */
  async plan(agent: ConnectionView, action: ConnectionAction): Promise<void> {
    await this.#attempt(agent, async () => {
      this.shown = null;
      const plan = await this.#desk.planConnection(agent.id, action);
      if (plan) this.shown = { agent, action, plan };
      else await this.load();
    });
  }
  /** Makes the change that is shown. */
  async make({ agent, action, plan }: ShownChange): Promise<void> {
    await this.#attempt(agent, async () => {
      await this.#desk.changeConnection(agent.id, action, plan.digest);
      this.shown = null;
      const { done, then } = actionWords[action];
      const title = `${done}: ${agent.title}`;
      this.#desk.toasts.add({ icon: 'check', ink: 'plain', title, text: then, brief: true });
      this.#desk.announced = `${title}.`;
      await this.load();
    });
  }
  /** Imports the sessions of an agent that went on in the last week. */
  async importSessions(agent: ConnectionView): Promise<void> {
    await this.#attempt(agent, async () => {
      this.importing = agent.id;
      try {
        const title = `Imported from ${agent.title}`;
        const text = importWords(await this.#desk.importSessions(agent.id));
        this.#desk.toasts.add({ icon: 'check', ink: 'plain', title, text, brief: true });
        this.#desk.announced = `${title}: ${text}`;
      } finally {
        this.importing = null;
      }
    });
  }
  /** Puts the change aside that is shown. */
  close(): void {
    this.shown = null;
    this.refusal = null;
  }

  /** Acts on an agent, one act at a time. A refusal stands beside the agent, and what was shown has to be looked at again. */
  async #attempt(agent: ConnectionView, act: () => Promise<void>): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    this.refusal = null;
    try {
      await act();
    } catch (thrown) {
      this.refusal = { agent: agent.id, fault: faultOf(thrown) };
      this.shown = null;
      await this.load();
    }
    this.#busy = false;
  }
}

const isHere = ({ program, acp, state, servers }: ConnectionView): boolean =>
  program !== null ||
  acp?.program != null ||
  state.type !== 'not_connected' ||
  (servers?.type === 'readable' && servers.can_restore);
