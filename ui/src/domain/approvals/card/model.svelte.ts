// The state of one card: what it shows, what can be done about it, and what keys and buttons do. The parts of the card
// take it from the context.

import { createContext, tick } from 'svelte';
import type { Entry } from '../../../ipc/bindings';
import { isTrial, openAsk, isDryRunning } from '../../../state/calls';
import { entryKey, type CallEntry, type Desk } from '../../../state/desk.svelte';
import type { Members } from '../../../widgets/form/members';
import { AlwaysPick, CALLS_MAX } from '../always/always.svelte';
import type { By } from '../deciding/arming';
import { Deciding } from '../deciding/deciding.svelte';
import { following, successor, type Intent } from '../deciding/keys';
import type { DiffArgs, FormArgs } from '../parts';
import { canDryRun, isDelegated, isSettled, stateWords, tooSoon, runChoices, type RunChoice } from '../words';
import { argumentSchema } from './argument_schema';
import { CardFrame } from './card_frame.svelte';
import { changedMembers } from './changed_arguments';

/** A button that is held, pressed by a key. */
interface Hold {
  press(): void;
  release(): void;
}

/** Props of the card, read anew each time. */
interface Given {
  entry(): Entry;
  /** Whether this card owns the keys. */
  owner(): boolean;
  /** Whether a settled call was opened by the person. */
  open(): boolean;
  /** Whether only its head is shown: another card of the list is open. */
  listed(): boolean;
}

export class CardModel extends CardFrame {
  readonly #given: Given;

  // Parts that the card's components bind here.
  mainHold: Hold | undefined = $state.raw();
  alternativeHold: Hold | undefined = $state.raw();
  noteField: HTMLInputElement | undefined = $state.raw();
  undoStrip: { act(): Promise<void> } | undefined = $state.raw();
  ask: { press(yes: boolean): void } | undefined = $state.raw();

  /** Place of the form's question that is asked now. */
  step = $state(0);
  /** The chosen way to run the command otherwise; none while none is chosen. */
  way: RunChoice | null = $state(null);
  /** Input schema of the tool, while the arguments are written. */
  schema: unknown = $state.raw();
  /** Whether the details of a waiting call are shown. */
  detailed = $state(false);

  readonly always: AlwaysPick;
  readonly deciding: Deciding;

  constructor(desk: Desk, given: Given) {
    super(desk);
    this.#given = given;
    const call = () => ({ session: this.entry.session, call: this.entry.id });
    this.always = new AlwaysPick({
      offers: () => desk.query({ type: 'offers', ...call() }),
      check: (rule) => desk.query({ type: 'check_rule', rule }),
      backtest: (change) => desk.query({ type: 'backtest', workspace: this.#workspace, change, calls_max: CALLS_MAX }),
    });
    this.deciding = new Deciding(() => this.view, {
      always: (wish) => this.always.alongWith(wish === 'allow' ? 'allow' : 'deny'),
      changedAt: () => (this.always.open ? this.always.changedAt : Number.NEGATIVE_INFINITY),
      hold: (what) => (what === 'alternative' ? this.alternativeHold : this.mainHold)?.press(),
      early: (by) => this.announceEarly(by),
      send: async (decision, digest) => {
        const within = this.element?.contains(document.activeElement) ?? false;
        const before = this.keys();
        const receipt = await desk.submit({ type: 'decide', ...call(), digest, decision });
        if (receipt && within && decision.type !== 'edit' && !isTrial(decision))
          this.goTo(following(before, this.keys(), entryKey(this.entry)));
        return receipt !== null;
      },
    });
  }

  readonly entry: CallEntry = $derived.by(() => this.#given.entry() as CallEntry);
  readonly view = $derived.by(() => this.entry.body);
  readonly owner = $derived.by(() => this.#given.owner());
  readonly open = $derived.by(() => this.#given.open());
  readonly waiting = $derived.by(() => this.view.state === 'waiting');
  readonly listed = $derived.by(() => this.waiting && this.#given.listed());
  /** Whether letters are written elsewhere: the keys of the card work once Esc was pressed. */
  readonly away = $derived.by(() => this.owner && this.waiting && this.desk.focus.typing && !this.inside);
  readonly settled = $derived.by(() => isSettled(this.view.state));
  /** Whether the whole result is shown, not only its line. */
  readonly whole = $derived.by(() => !this.settled || this.open || this.view.state === 'failed');
  readonly pick = $derived.by(() => this.deciding.pick);
  readonly differs = $derived.by(() => this.view.preview.type === 'diff' || this.view.preview.type === 'effects');
  /** Question that the server asks while the call runs. */
  readonly openAsk = $derived.by(() => openAsk(this.view));
  /** Whether an answer to the call itself is asked for. */
  readonly decides = $derived.by(() => this.waiting && this.view.preview.type !== 'form' && this.openAsk === null);
  /** Whether only what it does, why it asks and the answers are shown. */
  readonly short = $derived.by(() => this.decides && !this.detailed);
  /** Whether its preview is cut off where it is tall. A plan is read from its beginning to its end. */
  readonly bounded = $derived.by(() => this.decides && this.view.preview.type !== 'plan');
  readonly canDryRun = $derived.by(() => this.decides && canDryRun(this.view));
  readonly offered = $derived.by(() => (this.decides ? runChoices(this.view) : []));
  readonly isDryRunning = $derived.by(() => isDryRunning(this.view));
  /** The arguments that the person changed. */
  readonly changed = $derived.by(() =>
    this.view.edited ? changedMembers(this.view.call.arguments, this.view.edited) : [],
  );
  /** Undo entry that can be undone or redone; none if there is none. */
  readonly undoable = $derived.by(() => {
    const { undo, state } = this.view;
    if (this.settled && undo !== null && undo.state !== 'prepared') return undo;
    return state === 'interrupted' ? undo : null;
  });
  readonly standing = $derived.by(() => stateWords(this.view, this.entry.at, this.desk.now));

  readonly diffArgs: DiffArgs = $derived.by(() => ({
    files: this.view.preview.type === 'diff' ? this.view.preview.files : [],
    layout: this.desk.settings.diff,
    pick: this.pick,
    onput:
      this.waiting && !this.deciding.busy && !isDelegated(this.view)
        ? (ids, into) => this.deciding.put(ids, into)
        : null,
    onlayout: (value) => void this.desk.set({ diff: value }),
    onnetwork: this.offered.includes('network') && this.way !== 'network' ? () => void this.toggleWay('network') : null,
    lines: this.waiting
      ? async (path, start, count) =>
          (await this.desk.query({ type: 'lines', session: this.entry.session, path, start, count })).lines
      : null,
  }));
  readonly formArgs: FormArgs = $derived.by(() => ({
    id: this.entry.id,
    questions: this.view.preview.type === 'form' ? this.view.preview.questions : [],
    step: this.step,
    onstep: (to) => (this.step = to),
    owner: this.owner,
    busy: this.deciding.busy,
    given: this.view.decision?.decision.type === 'answer' ? this.view.decision.decision.answers : null,
    waiting: this.waiting,
    onanswer: (given) => void this.deciding.send({ type: 'answer', answers: given }),
    onskip: () => void this.deciding.send({ type: 'skip' }),
    onlater: () => this.later(),
  }));

  /** Forgets every choice: the digest has changed, or waits anew. */
  renew(): void {
    this.releaseHolds();
    this.deciding.renew();
    this.way = null;
  }
  /** Releases held buttons. */
  releaseHolds(): void {
    this.mainHold?.release();
    this.alternativeHold?.release();
  }
  /** Announces an early press to a screen reader. */
  announceEarly(by: By): void {
    this.desk.announced = tooSoon(by);
  }
  /** Leaves the card on the Desk and goes on to the next. */
  later(): void {
    this.goTo(successor(this.keys(), entryKey(this.entry)));
  }
  async writeNote(): Promise<void> {
    this.deciding.noteOpen = true;
    await tick();
    this.noteField?.focus();
  }
  /** Opens the arguments in a form made of the tool's input schema; as JSON where the schema is not known. */
  async edit(): Promise<void> {
    if (this.deciding.editing) return;
    this.schema = await this.desk.query({ type: 'tools', workspace: this.#workspace }).then(
      ({ tools }) => argumentSchema(tools, this.view),
      () => undefined,
    );
    if (this.decides) this.deciding.editing = true;
  }
  /** Leaves the form of the arguments; their draft is kept. */
  async leaveEdit(written: Members | null): Promise<void> {
    this.deciding.written = written;
    this.deciding.editing = false;
    await tick();
    this.focus();
  }
  /** Opens the picker, or closes it again; where nothing is offered, the reason is said. */
  async toggleAlways(answer: 'allow' | 'deny'): Promise<void> {
    if (!this.always.toggle(answer)) {
      if (!this.always.refused) return;
      this.desk.announced = `Always… is not offered: ${this.always.refused}`;
      if (!this.detailed) this.toggleDetails();
      return;
    }
    this.deciding.watching.grow();
    await tick();
    // The rule that would be granted stands at the card's end.
    if (this.always.open) this.end?.scrollIntoView({ block: 'nearest' });
    else this.focus();
  }
  /** Opens one of the other ways to run the command, or closes it again. */
  async toggleWay(wanted: RunChoice): Promise<void> {
    this.way = this.way === wanted ? null : wanted;
    this.deciding.watching.grow();
    await tick();
    if (this.way === null) this.focus();
  }
  /** Shows the details of the call, or folds them. What is shown anew must be seen before an answer counts. */
  toggleDetails(): void {
    this.detailed = !this.detailed;
    this.deciding.watching.grow();
  }
  dryRun(): void {
    void this.deciding.send({ type: 'dry_run' });
  }
  /** Shows the call in the inspector. */
  inspect(): void {
    this.desk.selection.inspect({ session: this.entry.session, id: this.entry.id });
  }
  /** Stops the turn that the call is of. */
  interrupt(): void {
    void this.desk.submit({ type: 'interrupt', session: this.entry.session });
  }
  toggleLayout(): void {
    void this.desk.set({ diff: this.desk.settings.diff === 'split' ? 'unified' : 'split' });
  }
  /** Carries out the act picked in the menu of the card. */
  pickMore(id: string): void {
    if (id === 'edit') void this.edit();
    else if (id === 'network' || id === 'in_place') void this.toggleWay(id);
    else if (id === 'note') void this.writeNote();
    else if (id === 'layout') this.toggleLayout();
    else if (id === 'copy')
      void navigator.clipboard?.writeText(JSON.stringify(this.view.edited ?? this.view.call.arguments, null, 2));
    else this.inspect();
  }

  get #workspace(): string | null {
    return this.desk.session(this.entry.session)?.workspace ?? null;
  }
  protected act(intent: Intent): boolean {
    const { deciding, decides } = this;
    switch (intent) {
      case 'allow':
      case 'reject':
        this.ask?.press(intent === 'allow');
        if (decides && !deciding.editing) deciding.wish(intent);
        return decides || this.openAsk !== null;
      case 'always':
      case 'never':
        if (decides && !deciding.editing) void this.toggleAlways(intent === 'always' ? 'allow' : 'deny');
        return decides;
      case 'later':
        if (this.waiting) this.later();
        return this.waiting;
      case 'edit':
        if (decides) void this.edit();
        return decides;
      case 'dry_run':
        if (this.canDryRun && !deciding.editing) this.dryRun();
        return this.canDryRun;
      case 'network':
      case 'in_place':
        if (this.offered.includes(intent) && !deciding.editing)
          void (this.way === intent ? deciding.wishAlternative() : this.toggleWay(intent));
        return this.offered.includes(intent);
      case 'note':
        if (decides) void this.writeNote();
        return decides;
      case 'undo':
        if (this.undoable) void this.undoStrip?.act();
        return this.undoable !== null;
      case 'layout':
        if (this.differs) this.toggleLayout();
        return this.differs;
      case 'details':
        if (decides) this.toggleDetails();
        return decides;
      case 'leave':
        deciding.editing = false;
        this.always.open = null;
        this.way = null;
        this.focus();
        return true;
    }
  }
}

/** The model of the card that a component stands in. */
export const [getCard, setCard] = createContext<CardModel>();
