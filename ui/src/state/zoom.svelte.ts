// How large the window draws its page, kept on this machine.

import type { Host } from '../ipc/desk';

/** The sizes that can be chosen, in percent. */
export const ZOOM_STEPS = [50, 67, 75, 80, 90, 100, 110, 125, 150, 175, 200] as const;

const USUAL = 100;
/** Storage key of the size. */
const KEPT = 'zoom';

export class Zoom {
  readonly #host: Host;
  #percent: number = $state(keptZoom());

  constructor(host: Host) {
    this.#host = host;
  }

  get percent(): number {
    return this.#percent;
  }

  /** Draws at a size, now and at every later start; sizes beyond the steps are drawn at the nearest one. */
  async set(percent: number): Promise<void> {
    // Known at once: the next step begins from here, even if the window is not drawn anew yet.
    this.#percent = nearestStep(percent);
    localStorage.setItem(KEPT, String(this.#percent));
    await this.#host.setZoom(this.#percent / USUAL);
  }
  /** Draws at the next larger or smaller size. */
  async step(by: 1 | -1): Promise<void> {
    const at = ZOOM_STEPS.findIndex((step) => step === this.#percent);
    await this.set(ZOOM_STEPS[at + by] ?? this.#percent);
  }
  async reset(): Promise<void> {
    await this.set(USUAL);
  }
  /** Draws at the size that was kept, as the window opens. */
  async apply(): Promise<void> {
    if (this.#percent !== USUAL) await this.#host.setZoom(this.#percent / USUAL);
  }
}

function keptZoom(): number {
  const kept = Number(localStorage.getItem(KEPT) ?? USUAL);
  return nearestStep(Number.isFinite(kept) ? kept : USUAL);
}

function nearestStep(percent: number): number {
  return [...ZOOM_STEPS].reduce((best, step) => (Math.abs(step - percent) < Math.abs(best - percent) ? step : best));
}
