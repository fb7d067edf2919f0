// What was chosen and typed for a session that has not begun.

import type { Desk } from '../../state/desk.svelte';

/** A session that has not begun. */
export interface SessionDraft {
  /** The folder that was picked beside those of earlier sessions; empty for none. */
  picked: string;
  /** The folder that it is to work in; empty for that of the last session. */
  folder: string;
  /** The first message. */
  prompt: string;
}

const memory = new WeakMap<Desk, SessionDraft>();

/** Returns the draft, kept for as long as the window is open; none if there is none. */
export function draftOf(desk: Desk): SessionDraft | undefined {
  return memory.get(desk);
}

/** Keeps the draft while other screens are open. */
export function keepDraft(desk: Desk, draft: SessionDraft): void {
  memory.set(desk, draft);
}

/** Forgets the draft, as its session has begun. */
export function forgetDraft(desk: Desk): void {
  memory.delete(desk);
}
