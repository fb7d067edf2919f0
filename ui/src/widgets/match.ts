// Finds the commands that fit the typed text, the best first.

/** Something that can be found by its words. */
interface Findable {
  text: string;
  hint?: string | undefined;
}

/** Returns the items that hold every word typed, in their order; those whose text begins with it first. */
export function matching<T extends Findable>(items: readonly T[], typed: string): T[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const holds = (item: T) => {
    const text = `${item.text} ${item.hint ?? ''}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const begins = (item: T) => (item.text.toLowerCase().startsWith(typed.toLowerCase().trim()) ? 0 : 1);
  return items.filter(holds).sort((one, other) => begins(one) - begins(other));
}

/** Splits a text where words stand in it; the pieces that are one of the words are `found`. The words are in lower case. */
export function marked(text: string, words: readonly string[]): { text: string; found: boolean }[] {
  if (words.length === 0) return [{ text, found: false }];
  const longestFirst = [...words].sort((one, other) => other.length - one.length);
  const any = longestFirst.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  return text
    .split(new RegExp(`(${any})`, 'gi'))
    .map((piece, i) => ({ text: piece, found: i % 2 === 1 }))
    .filter((piece) => piece.text !== '');
}
