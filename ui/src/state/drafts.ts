// Messages that were typed and not yet sent.

import type { Desk } from './desk.svelte';

const memory = new WeakMap<Desk, Map<string, string>>();

/** The drafts of the sessions, by their ids, kept for as long as the window is open. */
export function draftsOf(desk: Desk): Map<string, string> {
  const drafts = memory.get(desk) ?? new Map<string, string>();
  memory.set(desk, drafts);
  return drafts;
}
