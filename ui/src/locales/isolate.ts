// Keeps the values of a sentence in their own direction. In a sentence that runs from the right, `.env` or `/tmp` would
// else be drawn with its first sign behind it. Unicode has two invisible characters for this: around a value, they
// isolate it from what stands beside it.

const FIRST_STRONG_ISOLATE = '\u2068';
const POP_ISOLATE = '\u2069';

/**
 * Invisible characters, drawn by lot at every start. They tell the isolates of the catalogue from those that somebody
 * writes into a title or a path, which are shown by their names like everything else that hides.
 */
const KEY = Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) =>
  String.fromCharCode(0x2060 + (byte % 5)),
).join('');
const START = FIRST_STRONG_ISOLATE + KEY;
const END = POP_ISOLATE + KEY;
const OURS = new RegExp(`([${FIRST_STRONG_ISOLATE}${POP_ISOLATE}])${KEY}`, 'g');

/** Returns a value of a sentence, isolated from it. A number needs no isolation. */
export function isolate<T>(value: T): T | string {
  return typeof value === 'string' && value !== '' ? START + value + END : value;
}

/** Writes a message whose values are isolated, but for those within `backticks`: code is drawn isolated anyway. */
export function fillIsolated(parts: readonly unknown[], values: readonly unknown[]): string {
  let text = '';
  let isCode = false;
  for (const part of parts) {
    if (typeof part === 'number') text += String(isCode ? values[part] : isolate(values[part]));
    else {
      text += String(part);
      isCode = isCode !== (String(part).split('`').length % 2 === 0);
    }
  }
  return text;
}

/** Splits a text at the isolates of the catalogue, which are in the result as the characters that a page needs. */
export function splitIsolates(text: string): { text: string; isIsolate: boolean }[] {
  if (!text.includes(KEY)) return [{ text, isIsolate: false }];
  return text.split(OURS).map((part, i) => ({ text: part, isIsolate: i % 2 === 1 }));
}
