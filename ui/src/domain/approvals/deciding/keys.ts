// The keys of a card. Pure; arming.ts rules whether an answer counts.

import type { CardCommand } from '../../../state/keymap/commands';
import type { Keymap } from '../../../state/keymap/keymap';
import type { KeyPress } from '../../../widgets/chord';

/** Act of a card that a key asks for: a command, or what Enter and Escape do there. */
export type Intent = CardCommand | 'note' | 'leave';

/** The part of a keyboard event that matters. */
export interface Press extends KeyPress {
  repeat: boolean;
  isComposing: boolean;
}

/**
 * Place of the focus: the card itself, a control on it, its main answer, a text field, an open menu, or anywhere else.
 */
export type Place = 'card' | 'control' | 'answer' | 'text' | 'menu' | 'elsewhere';

const TEXTLESS = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'range', 'color', 'file', 'image']);

/** The place of a focused element, seen from its card. */
export function placeOf(target: EventTarget | null, card: Element): Place {
  if (!(target instanceof Element) || !card.contains(target)) return 'elsewhere';
  if (target === card) return 'card';
  if (target.closest('[role="menu"], [role="listbox"], dialog')) return 'menu';
  if (target instanceof HTMLInputElement) return TEXTLESS.has(target.type) ? 'control' : 'text';
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return 'text';
  if (target.closest('[contenteditable]:not([contenteditable="false"])')) return 'text';
  return target.closest('[data-answer]') ? 'answer' : 'control';
}

/**
 * Returns the act that a key press asks for; none where the key is text, a shortcut of something else, or held down.
 */
export function intentOf(press: Press, place: Place, keymap: Keymap): Intent | null {
  if (press.isComposing || press.repeat || place === 'elsewhere' || place === 'menu') return null;
  const isAlone = !press.ctrlKey && !press.altKey && !press.metaKey;
  if (press.key === 'Escape' && isAlone) return place === 'card' ? null : 'leave';
  if (place === 'text') return null;
  // Enter and Space never allow: on the main answer they open the note.
  if (press.key === 'Enter' || press.key === ' ') return isAlone && place === 'answer' ? 'note' : null;
  return keymap.resolve(press, 'card');
}

/** The card that gets the focus once one has settled or is left for later: the next one, else the first, else none. */
export function successor(keys: readonly string[], settled: string): string | null {
  const at = keys.indexOf(settled);
  const others = keys.filter((key) => key !== settled);
  return others[at < 0 ? 0 : at] ?? others[0] ?? null;
}

/** The card that gets the focus once an answer was taken: the next of those that waited before and still do, else the first that waits. */
export function following(before: readonly string[], now: readonly string[], settled: string): string | null {
  const waits = (key: string) => key !== settled && now.includes(key);
  const at = before.indexOf(settled);
  return [...before.slice(at + 1), ...before.slice(0, at + 1), ...now].find(waits) ?? null;
}
