// Hands the store down to every feature.

import { getContext, setContext } from 'svelte';
import type { Desk } from './desk.svelte';

const KEY = Symbol('desk');

/** Hands the store down to every feature. */
export function setDesk(desk: Desk): void {
  setContext(KEY, desk);
}

/** The store. */
export function getDesk(): Desk {
  return getContext<Desk>(KEY);
}
