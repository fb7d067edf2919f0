// The keys that work everywhere: what a press means where the focus is. Pure; the panels carry it out.

import { findCommand, type SessionCommand, type WindowCommand } from '../state/keymap/commands';
import type { Keymap } from '../state/keymap/keymap';
import { chordOf, isTyped } from '../widgets/chord';

/** Act of the window that a key asks for. */
type WindowKey = WindowCommand | SessionCommand | 'escape';

/** What lies over the screen, or is open on it: single letters belong to it. */
const OVER = 'dialog, [role="menu"], [role="listbox"]';
const BUTTONLIKE = new Set(['checkbox', 'radio', 'button', 'submit', 'reset', 'range']);

/** Tells whether single letters are text for the element, or belong to a list that is open. */
export function takesText(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest(OVER)) return true;
  if (target instanceof HTMLInputElement) return !BUTTONLIKE.has(target.type);
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    target.closest('[contenteditable="true"]') !== null
  );
}

/** Returns the act that a key press asks for; none where the key is text or was already handled. */
export function windowKey(event: KeyboardEvent, keymap: Keymap): WindowKey | null {
  if (event.defaultPrevented || event.isComposing) return null;
  if (event.key === 'Escape' && !event.ctrlKey && !event.altKey && !event.metaKey) return 'escape';
  const command = keymap.resolve(event, 'window', 'session');
  if (command === null || findCommand(command)?.whileWriting || !takesText(event.target)) return command;
  // In a field what writes no text is free; what lies over the screen keeps every key.
  const isOver = event.target instanceof Element && event.target.closest(OVER) !== null;
  return isOver || isTyped(chordOf(event) ?? '') ? null : command;
}
