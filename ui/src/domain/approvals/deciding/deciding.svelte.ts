// One card's decision: the chosen hunks, the answer that was aimed at, and the one answer that is sent for each digest
// shown.

import type { CallView, Decision, Digest, GrantRequest } from '../../../ipc/bindings';
import { rule, type By, type Moment, type Ruling, type Wish } from './arming';
import type { Members } from '../../../widgets/form/members';
import { activeSince } from './window_focus';
import { EarlyPress } from './early_press.svelte';
import { hunksToApply, pickOf, withHunks, type Chosen } from '../hunks';
import { Watching } from './watching.svelte';
import { appliedLeft, mustHold } from '../words';

/** Acts of a card that a ruling leads to. */
export interface Acts {
  /** The rule that an answer would make as well; none: it makes none. `undefined`: it was asked for, and cannot be made as it stands. */
  always(wish: Wish): GrantRequest | null | undefined;
  /** When that rule last changed. */
  changedAt(): number;
  /** Sends the decision; false if it was refused. */
  send(decision: Decision, digest: Digest): Promise<boolean>;
  /** Begins to hold the main answer, or the button that runs the command in another way. */
  hold(what: 'answer' | 'alternative'): void;
  /** A press came too soon to count. */
  early(by: By): void;
}

export class Deciding {
  readonly watching = new Watching();
  note = $state('');
  noteOpen = $state(false);
  editing = $state(false);
  /** Arguments that were written and not sent. */
  written: Members | null = $state.raw(null);
  leftOut: ReadonlySet<number> = $state.raw(new Set());
  readonly early: EarlyPress;
  /** The digest that was answered; a second answer to it is never sent. */
  #spent: Digest | null = $state(null);
  #aimed: { wish: Wish; digest: Digest; ruling: Ruling } | null = null;
  readonly #view: () => CallView;
  readonly #acts: Acts;

  constructor(view: () => CallView, acts: Acts) {
    this.#view = view;
    this.#acts = acts;
    this.early = new EarlyPress((by) => acts.early(by));
  }

  /** Digest that is shown and waits for an answer. */
  get digest(): Digest | null {
    const view = this.#view();
    return view.state === 'waiting' ? (view.pending?.digest ?? null) : null;
  }
  /** Chosen hunks or paths: the person's choice while the call waits, then the part that was applied. */
  get pick(): Chosen {
    const view = this.#view();
    return pickOf(view.preview, view.state === 'waiting' ? this.leftOut : appliedLeft(view));
  }
  /** Whether no answer can be given now. */
  get busy(): boolean {
    return this.digest === null || this.#spent === this.digest;
  }
  /** Whether everything that could be applied was left out, or a rule was asked for that cannot be made. */
  get empty(): boolean {
    return (this.pick.all > 0 && this.pick.ids.length === 0) || this.#acts.always('allow') === undefined;
  }

  /**
   * Starts over once the digest has changed or waits anew: nothing that was seen, chosen or aimed at before counts any
   * more.
   */
  renew(): void {
    this.watching.renew();
    this.#spent = null;
    this.leftOut = new Set();
    this.editing = false;
    this.written = null;
    this.#aimed = null;
  }
  put(ids: readonly number[], into: boolean): void {
    this.leftOut = withHunks(this.leftOut, ids, into);
  }

  #rule(wish: Wish, by: By, must = wish === 'allow' && mustHold(this.#view())): Ruling {
    const at = performance.now();
    const moment: Moment = {
      at,
      look: this.watching.look,
      focusedSince: this.watching.focusedSince,
      windowSince: activeSince(at),
      spent: this.busy,
      covered: this.watching.covered,
      held: must,
      changedAt: this.#acts.changedAt(),
      restEnded: this.watching.restEnded,
    };
    return rule(wish, by, moment);
  }

  /** A key says it. */
  wish(wish: Wish): void {
    this.#carry(wish, this.#rule(wish, 'key'), false, 'key');
  }
  /** Handles a pointer going down on an answer: whether it may count is ruled now, by the parts in view now. */
  aim(wish: Wish): void {
    const digest = this.digest;
    this.#aimed = digest === null ? null : { wish, digest, ruling: this.#rule(wish, 'pointer') };
  }
  /**
   * Handles the pointer coming up on an answer. A press on something else, or on a digest no longer shown, does
   * nothing.
   */
  release(wish: Wish, stop = false): void {
    const aimed = this.#aimed;
    this.#aimed = null;
    if (aimed?.wish === wish && aimed.digest === this.digest && !this.busy) this.#carry(wish, aimed.ruling, stop);
  }
  /** The main answer was held to its end. */
  held(): void {
    if (this.#rule('allow', 'pointer') === 'hold') this.#allow();
  }
  /** Handles the key for another way to run. Its effects are not shown before, so it is held, and ruled as an Allow. */
  wishAlternative(): void {
    const ruling = this.#rule('allow', 'key', true);
    if (ruling === 'hold') this.#acts.hold('alternative');
    else this.#carry('allow', ruling, false, 'key');
  }
  /** Sends the decision once the button for another way to run was held to its end. */
  heldAlternative(decision: Decision): void {
    const ruling = this.#rule('allow', 'pointer', true);
    if (ruling === 'hold') void this.send(decision);
    else this.#carry('allow', ruling, false);
  }
  /** Chosen from a menu, or pressed with a key on the button itself. */
  reject(stop: boolean): void {
    this.#carry('reject', this.#rule('reject', 'pointer'), stop);
  }

  #carry(wish: Wish, ruling: Ruling, stop: boolean, by: By = 'pointer'): void {
    switch (ruling) {
      case 'go':
        if (wish === 'allow') this.#allow();
        else this.#no(stop);
        return;
      case 'hold':
        if (!this.empty) this.#acts.hold('answer');
        return;
      case 'show':
        this.watching.show();
        return;
      case 'rest':
        this.watching.showRest();
        return;
      case 'wait':
      case 'asleep':
        this.early.swallow(wish, by);
        return;
      case 'spent':
        return;
    }
  }

  #no(stop: boolean): void {
    const always = this.#acts.always('reject');
    if (always !== undefined)
      void this.send({ type: 'reject', note: this.note.trim(), stop, ...(always && { always }) });
  }
  #allow(): void {
    if (this.empty) return;
    const always = this.#acts.always('allow');
    void this.send({
      type: 'allow',
      hunks: hunksToApply(this.pick),
      note: this.note.trim(),
      ...(always && { always }),
    });
  }

  /** Sends an answer to exactly the digest shown, once. A refusal makes the card answerable again. */
  async send(decision: Decision): Promise<void> {
    const digest = this.digest;
    if (digest === null || this.busy) return;
    this.#spent = digest;
    if (!(await this.#acts.send(decision, digest)) && this.#spent === digest) this.#spent = null;
  }
}
