// Which keys a command cannot have, and why. Pure.

import { comparable, isCommanding, isFunctionKey, isTyped, keyOfChord } from '../../widgets/chord';
import type { KeyCommand } from './commands';

/** Keys by which text is copied, pasted, selected, and taken back in every field. */
const OF_TEXT = new Set(['Ctrl+C', 'Ctrl+V', 'Ctrl+X', 'Ctrl+A', 'Ctrl+Z', 'Ctrl+Y', 'Ctrl+Shift+Z', 'Ctrl+Shift+V']);
/** Keys by which windows are closed and left. */
const OF_SYSTEM = new Set(['Ctrl+W', 'Ctrl+Q', 'Alt+F4']);
/** Keys that move and delete in lists and texts. */
const MOVES = /^(Arrow|Home$|End$|PageUp$|PageDown$|Backspace$|Delete$|Insert$)/;
/** Keys that a desktop can listen to in every program. */
const OF_DESKTOP = /^([A-Z\d]|Space|F([1-9]|1[0-2]))$/;

/** Returns why a command cannot have a chord, in a sentence; null if it can. */
export function refuseChord({ place, whileWriting }: KeyCommand, chord: string): string | null {
  const key = keyOfChord(chord);
  const isPressing = key === 'Enter' || (key === 'Space' && !(place === 'desktop' && isCommanding(chord)));
  if (isPressing) return 'Enter and Space press what has the focus, and never allow. Choose other keys.';
  if (key === 'Tab') return 'Tab moves the focus. Choose other keys.';
  if (key === 'Escape') return 'Esc closes and leaves. Choose other keys.';
  if (MOVES.test(key)) return 'This key moves or deletes in lists and texts. Choose other keys.';
  const same = comparable(chord);
  if (OF_TEXT.has(same)) return 'These keys copy, paste, select, or take back in texts. Choose other keys.';
  if (OF_SYSTEM.has(same)) return 'These keys close windows. Choose other keys.';
  if (place === 'desktop') return refuseOnDesktop(chord);
  if (whileWriting && isTyped(chord))
    return 'It works while you write: add Ctrl, Alt, or Meta, or choose a function key.';
  return null;
}

function refuseOnDesktop(chord: string): string | null {
  if (isTyped(chord)) return 'Every program gets these keys: add Ctrl, Alt, or Meta, or choose F1 to F12.';
  if (OF_DESKTOP.test(keyOfChord(chord))) return null;
  return isFunctionKey(chord)
    ? 'From other programs only F1 to F12 can be heard. Choose one of these.'
    : 'From other programs only letters, digits, and F1 to F12 can be heard. Choose one of these.';
}
