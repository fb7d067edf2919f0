// Where the focus goes when a screen is entered and when what had it is gone.

import { tick } from 'svelte';

const TRIES = 30;
const STOPS = '[data-testid^="card-"], [data-testid^="line-"], [data-testid^="errand-"]';

function byTestId(id: string): HTMLElement | null {
  return document.querySelector<HTMLElement>(`[data-testid="${CSS.escape(id)}"]`);
}

/** Gives a card the focus and shows all of it that fits; false while it is not there, or not yet drawn. */
export function focusCard(id: string): boolean {
  const card = byTestId(`card-${id}`);
  card?.focus({ preventScroll: true });
  if (!card || document.activeElement !== card) return false;
  card.scrollIntoView({ block: 'nearest' });
  return true;
}

/** Whether nothing that a person chose has the focus. */
export function isLost(): boolean {
  const active = document.activeElement;
  return active === null || active === document.body || active.id === 'main' || active.closest('nav') !== null;
}

/** To the first waiting card once it is there, else to the message box, else to the main region. */
export async function settleFocus(card: () => string | undefined): Promise<void> {
  for (let i = 0; i < TRIES; i += 1) {
    await tick();
    const id = card();
    if (!isLost() || (id !== undefined && focusCard(id))) return;
    if (id === undefined) break;
    await new Promise((drawn) => requestAnimationFrame(drawn));
  }
  (byTestId('composer') ?? document.getElementById('main'))?.focus();
}

/** From the card or line that has the focus to the next one; from nowhere to the one that owns the keys. */
export function stepFocus(step: 1 | -1, owner: string | undefined): void {
  const stops = [...document.querySelectorAll<HTMLElement>(STOPS)];
  const at = stops.findIndex((stop) => stop.contains(document.activeElement));
  if (at < 0 && owner !== undefined && focusCard(owner)) return;
  const next = stops[at < 0 ? (step > 0 ? 0 : stops.length - 1) : at + step];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'nearest' });
}
