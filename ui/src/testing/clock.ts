// Time in tests whose timers are fake.

import { tick } from 'svelte';
import { expect, vi } from 'vitest';

const STEP_MS = 10;
const PATIENCE_MS = 10_000;

/** Time goes by, and what it brings is drawn. */
export async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  await tick();
}

/** Lets time pass until something is so. */
export async function passUntil(holds: () => boolean): Promise<void> {
  for (let ms = 0; !holds(); ms += STEP_MS) {
    expect(ms, `${holds} within ${PATIENCE_MS} ms`).toBeLessThan(PATIENCE_MS);
    await pass(STEP_MS);
  }
}
