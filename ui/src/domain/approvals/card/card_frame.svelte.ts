// The part of a card's state that its frame needs: its element, whether it has the focus, and what keys on it do.

import type { CallEntry, Desk } from '../../../state/desk.svelte';
import { entryKey } from '../../../state/reduce';
import { focusCard, lendFocus } from '../../card_focus';
import type { Deciding } from '../deciding/deciding.svelte';
import { intentOf, placeOf, type Intent } from '../deciding/keys';

export abstract class CardFrame {
  readonly desk: Desk;

  element: HTMLElement | undefined = $state.raw();
  top: HTMLElement | undefined = $state.raw();
  end: HTMLElement | undefined = $state.raw();
  /** Whether the focus is within the card. */
  inside = $state(false);

  constructor(desk: Desk) {
    this.desk = desk;
  }

  abstract readonly deciding: Deciding;
  /** The call that the keys belong to while the card has the focus. */
  abstract readonly entry: CallEntry;
  /** Carries out the act of a key; false where the key means nothing here. */
  protected abstract act(intent: Intent): boolean;
  /** Releases held buttons. */
  abstract releaseHolds(): void;

  /** Puts the focus on the card itself. */
  focus(): void {
    this.element?.focus();
  }
  onkeydown(event: KeyboardEvent): void {
    if (!this.element) return;
    const intent = intentOf(event, placeOf(event.target, this.element), this.desk.keymap);
    if (intent === null || !this.act(intent)) return;
    event.preventDefault();
    event.stopPropagation();
  }
  onkeyup(event: KeyboardEvent): void {
    this.releaseHolds();
    // A browser presses a button when Space comes up.
    if (event.key === ' ' && this.element && placeOf(event.target, this.element) === 'answer') event.preventDefault();
  }
  onfocusin(): void {
    this.inside = true;
    this.deciding.watching.focus(true);
    this.desk.focus.own(this.entry);
  }
  onfocusout(event: FocusEvent): void {
    if (event.relatedTarget instanceof Node && this.element?.contains(event.relatedTarget)) return;
    this.inside = false;
    this.deciding.watching.focus(false);
    this.desk.focus.leave(this.entry);
    this.releaseHolds();
  }

  /** The keys of the waiting cards, in their order. */
  protected keys(): string[] {
    return this.desk.focus.cards.map(entryKey);
  }
  /** Puts the focus on another card, or in the message box until one comes. */
  protected goTo(key: string | null): void {
    if (key === null || !focusCard(key)) lendFocus();
  }
}
