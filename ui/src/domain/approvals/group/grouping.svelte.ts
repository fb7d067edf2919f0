// Which waiting calls of a list stand on one card, and which the person wants to answer one by one.

import { tick } from 'svelte';
import { entryKey, type CallEntry } from '../../../state/desk.svelte';
import { focusCard } from '../../card_focus';
import { groupsOf, type WaitingGroup } from './kinds';

export class Grouping {
  /** The calls that were taken out of their group. */
  #apart: ReadonlySet<string> = $state.raw(new Set());
  /** The call whose own card last had the focus: it joins no group, for nothing moves under the hand. */
  #held = $state('');

  /** Returns the calls by the cards on which they stand. */
  groupsOf(waiting: readonly CallEntry[]): WaitingGroup[] {
    return groupsOf(waiting, new Set([...this.#apart, this.#held]));
  }
  /** A card of these calls took the focus. */
  hold(group: WaitingGroup): void {
    if (group.length === 1) this.#held = entryKey(group[0]);
  }
  /** Shows the calls of a group one by one. */
  async separate(group: WaitingGroup): Promise<void> {
    this.#apart = new Set([...this.#apart, ...group.map(entryKey)]);
    await tick();
    focusCard(entryKey(group[0]));
  }
}
