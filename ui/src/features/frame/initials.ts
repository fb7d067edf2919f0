// The initials of a title, where there is no room for it.

const LETTERS_MAX = 2;

/** The first letters of the first two words, in capitals: "MT" for "Mend the sign". */
export function initials(title: string): string {
  const words: string[] = title.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words
    .slice(0, LETTERS_MAX)
    .map((word) => [...word][0])
    .join('')
    .toUpperCase();
}
