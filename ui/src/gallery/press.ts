// Buttons that are pressed one after the other, so that a state of the gallery is reached as a person would.

/** Presses the buttons with these test ids, each after a look of `lookMs` at what there is. */
export async function pressAll(
  box: HTMLElement | undefined,
  testids: readonly string[],
  lookMs: number,
): Promise<void> {
  for (const testid of testids) {
    await new Promise((looked) => setTimeout(looked, lookMs));
    box?.querySelector<HTMLElement>(`[data-testid="${testid}"]`)?.click();
  }
}
