// Marks words in the page without a change of its elements.

/** Name of the marks in `styles/base.css`. */
const NAME = 'found';

/** Marks every occurrence of the words, in lower case, in an element, in place of what was marked before. */
export function markWords(root: Element, words: readonly string[]): void {
  if (!('highlights' in CSS)) return;
  CSS.highlights.set(NAME, new Highlight(...findWords(root, words)));
}

/** Marks nothing any more. */
export function unmarkWords(): void {
  if ('highlights' in CSS) CSS.highlights.delete(NAME);
}

/** The occurrences of the words, in lower case, within the text of an element. */
export function findWords(root: Element, words: readonly string[]): Range[] {
  const out: Range[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const text = (node.textContent ?? '').toLowerCase();
    for (const word of words) {
      if (word === '') continue;
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = document.createRange();
        // A letter may be longer in lower case than it is.
        range.setStart(node, Math.min(at, node.textContent?.length ?? 0));
        range.setEnd(node, Math.min(at + word.length, node.textContent?.length ?? 0));
        out.push(range);
      }
    }
  }
  return out;
}
