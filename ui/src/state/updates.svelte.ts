// What is known of a newer version of the app, and the steps to it.

import type { UpdateStep, UpdateView, UserError } from '../ipc/bindings';
import { faultOf, type Host } from '../ipc/desk';

export class Updates {
  readonly #host: Host;
  /** What the app knows; none until it has told. */
  view: UpdateView | null = $state.raw(null);
  /** Why the last step was refused. */
  refused: UserError | null = $state.raw(null);
  /** Whether a newer version waits for the person. */
  readonly waits = $derived(this.view?.state.type === 'available' || this.view?.state.type === 'staged');

  constructor(host: Host) {
    this.#host = host;
  }

  /** Hears of every change from now on. */
  async watch(): Promise<void> {
    await this.#host.watchUpdates((view) => (this.view = view));
  }

  /** Takes a step that the person chose. */
  async take(step: UpdateStep): Promise<void> {
    this.refused = null;
    this.refused = await this.#host.updateApp(step).then(() => null, faultOf);
  }
}
