// A stand-in for tests: whatever is observed is in view as soon as it is there.

import { vi } from 'vitest';

type Seen = (changes: { target: Element; isIntersecting: boolean; time: number }[]) => void;

/** Has everything in view from here on. */
export function showEverything(): void {
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      readonly #tell: Seen;
      constructor(tell: Seen) {
        this.#tell = tell;
      }
      observe(target: Element): void {
        queueMicrotask(() => this.#tell([{ target, isIntersecting: true, time: performance.now() }]));
      }
      unobserve(): void {}
      takeRecords(): [] {
        return [];
      }
      disconnect(): void {}
    },
  );
}
