// Chords: one key with the modifiers that are held, written as `Ctrl+Shift+F`. Read from texts and from presses, and shown. Pure.

/** The part of a keyboard event that says which chord is pressed. */
export interface KeyPress {
  key: string;
  /** Place of the key on the keyboard: `KeyY`. */
  code: string;
  ctrlKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  metaKey: boolean;
}

/** The modifiers, in the order in which they are written. */
const MODIFIERS = ['Ctrl', 'Alt', 'Shift', 'Meta'] as const;
type Modifier = (typeof MODIFIERS)[number];

/** A chord in its parts. */
interface Parts {
  modifiers: readonly Modifier[];
  /** A character, a letter in capitals, or the name of a key: `ArrowUp`. */
  key: string;
}

/** Keys that write no character, or one that cannot be seen. */
const NAMED =
  /^(Enter|Tab|Escape|Space|Backspace|Delete|Insert|Home|End|PageUp|PageDown|Arrow(Up|Down|Left|Right)|F([1-9]|1\d|2[0-4]))$/;

/** Signs of keys whose names are long. */
const CAPS: Record<string, string> = {
  Escape: 'Esc',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
};

const isLetter = (key: string): boolean => /^\p{L}$/u.test(key);
/** Tells whether Shift is told apart: with any other character it is how the character is written. */
const hasShift = (key: string): boolean => isLetter(key) || NAMED.test(key);

function inCapitals(key: string): string {
  const capital = key.toUpperCase();
  return isLetter(key) && isLetter(capital) ? capital : key;
}

function partsOf(chord: string): Parts {
  const modifiers: Modifier[] = [];
  let rest = chord;
  for (let found = modifierOf(rest); found; found = modifierOf(rest)) {
    modifiers.push(found);
    rest = rest.slice(found.length + 1);
  }
  return { modifiers, key: rest };
}
const modifierOf = (rest: string): Modifier | undefined =>
  MODIFIERS.find((one) => rest.startsWith(`${one}+`) && rest.length > one.length + 1);

function write({ modifiers, key }: Parts): string {
  return [...MODIFIERS.filter((one) => modifiers.includes(one)), key].join('+');
}

/** Reads a chord that a person may have written; returns it as it is written here, null if it is none. */
export function readChord(text: string): string | null {
  const { modifiers, key: written } = partsOf(text);
  const key = inCapitals(written);
  const isKey = NAMED.test(key) || /^[^\s\p{C}]$/u.test(key);
  const isRepeated = new Set(modifiers).size < modifiers.length;
  if (!isKey || isRepeated || (modifiers.includes('Shift') && !hasShift(key))) return null;
  return write({ modifiers, key });
}

/** Returns the chord of a key press; null for a modifier alone, and for keys that no command can have. */
export function chordOf(press: KeyPress): string | null {
  const key = keyOf(press);
  if (key === null) return null;
  const held: Record<Modifier, boolean> = {
    Ctrl: press.ctrlKey,
    Alt: press.altKey,
    Shift: press.shiftKey && hasShift(key),
    Meta: press.metaKey,
  };
  return write({ modifiers: MODIFIERS.filter((one) => held[one]), key });
}

function keyOf({ key, code, altKey }: KeyPress): string | null {
  if (key === ' ') return 'Space';
  if (/^[a-z]$/i.test(key)) return key.toUpperCase();
  // On a Greek or Cyrillic layout the key's place speaks, never on a Latin one; and with Alt, which writes other signs.
  if (/^Key[A-Z]$/.test(code) && (altKey || isLetter(key))) return code.slice(3);
  const capital = inCapitals(key);
  return NAMED.test(capital) || [...capital].length === 1 ? capital : null;
}

/** The same chord for two keyboards: ⌘ counts as Ctrl. */
export function comparable(chord: string): string {
  const { modifiers, key } = partsOf(chord);
  return write({ modifiers: modifiers.map((one) => (one === 'Meta' ? 'Ctrl' : one)), key });
}

/** The key of a chord, without its modifiers. */
export const keyOfChord = (chord: string): string => partsOf(chord).key;

/** Tells whether a chord has Ctrl, Alt or Meta: it writes no text. */
export const isCommanding = (chord: string): boolean => partsOf(chord).modifiers.some((one) => one !== 'Shift');

/** Tells whether a chord is a function key, with or without modifiers. */
export const isFunctionKey = (chord: string): boolean => /^F\d+$/.test(partsOf(chord).key);

/** Tells whether a text field takes a chord: it writes, deletes, or moves there. */
export const isTyped = (chord: string): boolean => !isCommanding(chord) && !isFunctionKey(chord);

/** The text of a chord on its cap: `Ctrl ⇧F`. */
export function capOf(chord: string): string {
  const { modifiers, key } = partsOf(chord);
  const cap = CAPS[key] ?? key;
  const others = modifiers.filter((one) => one !== 'Shift');
  if (!modifiers.includes('Shift')) return [...others, cap].join(' ');
  return isLetter(key) ? [...others, `⇧${cap}`].join(' ') : [...others, 'Shift', cap].join(' ');
}

/** The words of a chord for a screen reader: `Ctrl Shift F`. */
export function sayChord(chord: string): string {
  const { modifiers, key } = partsOf(chord);
  return [...modifiers, key.replace(/(?<=[a-z])(?=[A-Z])/, ' ')].join(' ');
}

/** A chord as `aria-keyshortcuts` has it: `Control+Shift+F`. */
export function ariaKeysOf(chord: string): string {
  const { modifiers, key } = partsOf(chord);
  return [...modifiers.map((one) => (one === 'Ctrl' ? 'Control' : one)), key === '+' ? 'Plus' : key].join('+');
}

/** A tooltip with the chord that does the same, if there is one. */
export function withChord(text: string, chord: string | undefined): string {
  return chord === undefined ? text : `${text} (${capOf(chord)})`;
}
