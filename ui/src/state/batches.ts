// The next frame of the window, whether or not it is seen.

/** Runs something with the next frame. A window that is not visible draws none; events must arrive all the same. */
function nextFrame(run: () => void): void {
  const once = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    run();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, document.hidden ? 50 : 250);
}

/** Collects items and hands them over once for each frame. */
export class Batches<Item> {
  readonly #take: (items: readonly Item[]) => void;
  #pending: Item[] = [];

  constructor(take: (items: readonly Item[]) => void) {
    this.#take = take;
  }

  add(items: readonly Item[]): void {
    const waits = this.#pending.length > 0;
    this.#pending.push(...items);
    if (waits || items.length === 0) return;
    nextFrame(() => {
      const batch = this.#pending;
      this.#pending = [];
      this.#take(batch);
    });
  }
}
