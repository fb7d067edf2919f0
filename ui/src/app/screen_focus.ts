// Moves the focus when a screen is entered, and when the focused element is gone.

import { tick } from 'svelte';
import { focusCard, isLent, isLentAndIdle, lendFocus, takeLent } from '../domain/card_focus';

/** Frames in which a card that waits may still be drawn, or a letter in the box be followed by another. */
const TRIES = 60;
const STOPS = '[data-card], [data-line], [data-testid^="sub-agent-task-"]';

/** What a person is busy with in the rail: a filter that is typed, a menu that is open, the rail itself over the screen. */
const IN_USE = 'input, [role="menu"], [aria-expanded="true"], nav.over';

/** Tells whether nothing that a person chose has the focus. */
function isLost(): boolean {
  const active = document.activeElement;
  if (active === null || active === document.body || active.id === 'main') return true;
  return active.closest('nav') !== null && active.closest(IN_USE) === null;
}

/** To the first waiting card once it is there, else to the message box, else to the main region. */
export async function settleFocus(card: () => string | undefined): Promise<void> {
  for (let i = 0; i < TRIES; i += 1) {
    await tick();
    const key = card();
    if (!isLost() && !(key !== undefined && isLent())) return;
    if (key === undefined) break;
    if (isLost() ? focusCard(key) : isLentAndIdle() && takeLent(key)) return;
    await new Promise((drawn) => requestAnimationFrame(drawn));
  }
  if (isLost() && !lendFocus()) document.getElementById('main')?.focus();
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
