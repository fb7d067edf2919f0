// The state of a card for several calls: one answer to exactly the calls that are shown, each by its own digest.

import type { CallView } from '../../../ipc/bindings';
import { entryKey, type CallEntry, type Desk } from '../../../state/desk.svelte';
import { CardFrame } from '../card/card_frame.svelte';
import { Deciding } from '../deciding/deciding.svelte';
import { following, successor, type Intent } from '../deciding/keys';
import { tooSoon } from '../words';
import type { WaitingGroup } from './kinds';

/** Props of the card, read anew each time. */
interface Given {
  members(): WaitingGroup;
  /** Shows the calls one by one. */
  onapart(): void;
}

export class GroupModel extends CardFrame {
  readonly #given: Given;
  readonly deciding: Deciding;

  constructor(desk: Desk, given: Given) {
    super(desk);
    this.#given = given;
    this.deciding = new Deciding(() => this.#view, {
      always: () => null,
      changedAt: () => Number.NEGATIVE_INFINITY,
      hold: () => {},
      early: (by) => (desk.announced = tooSoon(by)),
      send: async (decision) => {
        const { members } = this;
        const within = this.element?.contains(document.activeElement) ?? false;
        const before = this.keys();
        // One op: the press of the person counts for one.
        const calls = members.map(({ session, id, body }) => ({
          session,
          call: id,
          digest: body.pending?.digest ?? '',
        }));
        const receipt = await desk.submit({ type: 'decide_group', calls, decision });
        if (within) this.goTo(following(before, this.#keysOfCards(members), entryKey(members[0])));
        return receipt !== null;
      },
    });
  }

  readonly members = $derived.by(() => this.#given.members());
  readonly entry: CallEntry = $derived.by(() => this.members[0]);
  /** The calls as one that waits: its digest stands for those of all, so that another call or digest is another question. */
  readonly #view: CallView = $derived.by(() => {
    const { body } = this.entry;
    const digest = this.members.map((member) => `${entryKey(member)} ${member.body.pending?.digest}`).join('\n');
    return { ...body, preview: { type: 'nothing' }, pending: body.pending && { ...body.pending, digest } };
  });

  /** Leaves the calls on the Desk and goes on to the next card. */
  later(): void {
    this.goTo(successor(this.#keysOfCards(this.members), entryKey(this.entry)));
  }
  /** Shows the calls one by one. */
  separate(): void {
    this.#given.onapart();
  }
  releaseHolds(): void {}

  /** The keys of the waiting calls in their order, for these calls that of the first alone. */
  #keysOfCards([, ...rest]: WaitingGroup): string[] {
    const own = new Set(rest.map(entryKey));
    return this.keys().filter((key) => !own.has(key));
  }
  protected act(intent: Intent): boolean {
    switch (intent) {
      case 'allow':
      case 'reject':
        this.deciding.wish(intent);
        return true;
      case 'later':
        this.later();
        return true;
      case 'details':
        this.separate();
        return true;
      case 'leave':
        this.focus();
        return true;
      // Enter and Space never allow.
      case 'note':
        return true;
      case 'always':
      case 'never':
      case 'edit':
      case 'dry_run':
      case 'network':
      case 'in_place':
      case 'undo':
      case 'layout':
        return false;
    }
  }
}
