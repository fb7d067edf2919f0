// The key that has an agent plan first. Pure.

/** Tells whether a key press switches planning, in a box where a message is written. The place of the key counts: with Alt it may write another letter. */
export function isPlanKey(event: KeyboardEvent): boolean {
  return event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.code === 'KeyP';
}
