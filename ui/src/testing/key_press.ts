// A key press as a keyboard gives it, for what reads keys without a page.

import type { KeyPress } from '../widgets/chord';

/** A press of a key alone; `more` holds what else is pressed, or where the key lies. */
export const keyPress = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({
  key,
  code: '',
  ctrlKey: false,
  altKey: false,
  shiftKey: false,
  metaKey: false,
  ...more,
});
