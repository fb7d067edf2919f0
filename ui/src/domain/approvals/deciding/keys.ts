// The keys of a card. Pure; arming.ts rules whether an answer counts.

/** Act of a card that a key asks for. */
export type Intent =
  | 'allow'
  | 'always'
  | 'reject'
  | 'never'
  | 'later'
  | 'edit'
  | 'dry_run'
  | 'network'
  | 'in_place'
  | 'undo'
  | 'layout'
  | 'details'
  | 'note'
  | 'leave';

/** The part of a keyboard event that matters. */
export interface Press {
  key: string;
  code: string;
  repeat: boolean;
  ctrlKey: boolean;
  altKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  isComposing: boolean;
}

/**
 * Place of the focus: the card itself, a control on it, its main answer, a text field, an open menu, or anywhere else.
 */
export type Place = 'card' | 'control' | 'answer' | 'text' | 'menu' | 'elsewhere';

const letters: Record<string, Intent> = {
  y: 'allow',
  a: 'always',
  n: 'reject',
  l: 'later',
  e: 'edit',
  p: 'dry_run',
  w: 'network',
  r: 'in_place',
  u: 'undo',
  d: 'layout',
  o: 'details',
};

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

/** The letter of a key, also where the keyboard writes another script. */
function letterOf(press: Press): string {
  const letter = press.key.toLowerCase();
  if (/^[a-z]$/.test(letter)) return letter;
  // On a Greek or Cyrillic layout the key's place speaks, never on a Latin one.
  return letter.length === 1 && /\p{L}/u.test(letter) && /^Key[A-Z]$/.test(press.code)
    ? press.code.slice(3).toLowerCase()
    : '';
}

/**
 * Returns the act that a key press asks for; none where the key is text, a shortcut of something else, or held down.
 */
export function intentOf(press: Press, place: Place): Intent | null {
  if (press.isComposing || press.ctrlKey || press.altKey || press.metaKey || press.repeat) return null;
  if (place === 'elsewhere' || place === 'menu') return null;
  if (press.key === 'Escape') return place === 'card' ? null : 'leave';
  if (place === 'text') return null;
  // Enter and Space never allow: on the main answer they open the note.
  if (press.key === 'Enter' || press.key === ' ') return place === 'answer' ? 'note' : null;
  // The stronger no; nothing else is said with Shift.
  if (press.shiftKey) return letterOf(press) === 'n' ? 'never' : null;
  return letters[letterOf(press)] ?? null;
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
