// Moves the focus between cards and to the message box, so that it is never lost when a card settles.

/** Gives a waiting card the focus; false if it is not on the page. */
export function focusCard(id: string): boolean {
  const card = document.querySelector<HTMLElement>(`[data-testid="card-${CSS.escape(id)}"]`);
  card?.focus({ preventScroll: true });
  card?.scrollIntoView({ block: 'nearest' });
  return card !== null;
}

/** Gives the message box the focus, where there is one. */
export function focusComposer(): void {
  document.querySelector<HTMLElement>('[data-testid="composer"]')?.focus();
}
