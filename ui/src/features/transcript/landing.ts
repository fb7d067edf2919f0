// Tells whether what was scrolled to still finds its place: what is around it is measured frame by frame.

/** Frames without a change after which a place counts as found. A busy machine draws fewer of them, and is waited for. */
const STILL_FRAMES = 12;

/** Frames after which it counts as found whatever changes, as it does while an agent talks. */
const FRAMES_MAX = 60;

/** The landing of the transcript on a row. It goes on until nothing around the row changes any more. */
export class Landing {
  /** Runs once the place is found. */
  readonly #found: () => void;
  #frame = 0;
  /** Frames left until it ends: if nothing changes, and in any case. */
  #still = 0;
  #left = 0;

  constructor(found: () => void = () => {}) {
    this.#found = found;
  }

  /** Whether the row still finds its place. */
  get isUnderWay(): boolean {
    return this.#frame !== 0;
  }

  /** Begins, or begins anew for another row. */
  begin(): void {
    this.#still = STILL_FRAMES;
    this.#left = FRAMES_MAX;
    if (!this.isUnderWay) this.#awaitFrame();
  }

  /** Something around the row changed. */
  noteChange(): void {
    this.#still = STILL_FRAMES;
  }

  /** Ends at once. */
  end(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  #awaitFrame(): void {
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#still -= 1;
      this.#left -= 1;
      if (this.#still > 0 && this.#left > 0) this.#awaitFrame();
      else this.#found();
    });
  }
}
