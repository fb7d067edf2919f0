// The keys that work everywhere. Pure; App.svelte wires them to acts.

import type { Landmark } from './landmarks';

/** Act of the window that a key asks for. */
type WindowKey =
  | 'zoom_in'
  | 'zoom_out'
  | 'zoom_reset'
  | 'ask_again'
  | 'palette'
  | 'settings'
  | 'search'
  | 'keys'
  | 'inspector'
  | 'next'
  | 'previous'
  | 'find'
  | 'rail'
  | 'escape'
  | Landmark;

const letters: Record<string, WindowKey> = {
  '/': 'search',
  '?': 'keys',
  i: 'inspector',
  j: 'next',
  k: 'previous',
  '.': 'ask_again',
  c: 'waiting_card',
  x: 'error',
  '[': 'previous_message',
  ']': 'next_message',
};
/** Keys with Ctrl or ⌘; `=` is the key of `+` without Shift. */
const zoomKeys: Record<string, WindowKey> = {
  '+': 'zoom_in',
  '=': 'zoom_in',
  '-': 'zoom_out',
  '0': 'zoom_reset',
};
const BUTTONLIKE = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'range']);

/** Tells whether single letters are text for the element, or belong to a list that is open. */
export function takesText(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest('dialog, [role="menu"], [role="listbox"]')) return true;
  if (target instanceof HTMLInputElement) return !BUTTONLIKE.has(target.type);
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    target.closest('[contenteditable="true"]') !== null
  );
}

/** Returns the act that a key press asks for; none where the key is text or was already handled. */
export function windowKey(event: KeyboardEvent): WindowKey | null {
  if (event.defaultPrevented || event.isComposing || event.altKey) return null;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') return 'palette';
  if ((event.ctrlKey || event.metaKey) && event.key === ',') return 'settings';
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'f') return 'find';
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'b') return 'rail';
  if (event.ctrlKey || event.metaKey) return zoomKeys[event.key] ?? null;
  if (event.key === 'Escape') return 'escape';
  if (takesText(event.target)) return null;
  return letters[event.key] ?? letters[event.key.toLowerCase()] ?? null;
}
