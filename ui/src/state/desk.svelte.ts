// The store: the pure state, fed by the host, and what is looked at now.

import type { Entry } from '../ipc/bindings/Entry';
import type { Event } from '../ipc/bindings/Event';
import type { Fault } from '../ipc/bindings/Fault';
import type { Op } from '../ipc/bindings/Op';
import type { Query } from '../ipc/bindings/Query';
import type { Receipt } from '../ipc/bindings/Receipt';
import type { Rule } from '../ipc/bindings/Rule';
import type { SessionView } from '../ipc/bindings/SessionView';
import type { Settings } from '../ipc/bindings/Settings';
import { faultOf, type AnswerTo, type Host } from '../ipc/desk';
import { family, lineage, under } from './errands';
import { isCall, type CallEntry } from './fold';
import {
  awaited,
  awaiting,
  entryKey,
  fromSnapshot,
  reduce,
  unloaded,
  withoutPage,
  withPage,
  type Page,
  type State,
} from './reduce';
import { Batches } from './frames';
import { Healing } from './healing';
import { newsOf } from './news';
import { openedOutside, openingView } from './opening';
import { Paging } from './paging';
import { Toasts } from './toasts.svelte';
import { underWay } from './under_way';
import type { Jump, View } from './view';

/** How many folders are at hand at most. */
const FOLDERS_MAX = 8;
/** Ops that change what is set, and what may be wrong with it. */
const SETTING = new Set<Op['type']>([
  'set_settings',
  'set_key',
  'set_tool',
  'save_rules',
  'add_rules',
  'trust_rules',
  'distrust_rules',
]);

export class Desk {
  #host: Host;
  #state: State = $state.raw()!;
  /** A fast stream does not draw more often than the screen. */
  readonly #heard = new Batches<Event>((events) => this.#take(events));
  /** Counts what was asked of the settings: only the newest answer is taken. */
  #refreshes = 0;

  /** The time that ages are told from, in milliseconds since 1970; moves once a second. */
  now = $state(Date.now());
  /** What is looked at. */
  view: View = $state.raw({ screen: 'start' });
  /** Whether the person opened or closed the inspector; none while they did neither. */
  inspecting: boolean | null = $state(null);
  /** The entry to scroll to, once. */
  jump: Jump | null = $state.raw(null);
  /** Whether a text field has the focus: single letters are text then. */
  typing = $state(false);
  /** What the person last searched for; kept while other screens are looked at. */
  searched = $state('');
  /** The change in the history that was last looked at. */
  change = $state('');
  /** The id of the tool that was last looked at. */
  tool = $state('');
  /** The session in which a tool was last tried; its cards stand on the Tools screen too. */
  tried: string | null = $state(null);
  /** The rule to be shown among the others, once. */
  rule: Rule | null = $state.raw(null);
  /** The folder that tools are tried in and whose rules are looked at; none while nobody chose one. */
  folder: string | null = $state(null);
  /** Grows when something was changed, undone or done again. */
  changes = $state(0);
  /** The last thing that a screen reader should say. */
  announced = $state('');
  readonly toasts = new Toasts();
  /** Loads stretches of transcripts. */
  readonly paging: Paging;
  readonly #healing: Healing;
  #owner: Jump | null = $state.raw(null);
  /** Whether the focus is within that card now. */
  #focused = $state(false);
  #looked: Jump | null = $state.raw(null);
  /** Whether it was looked at because it had the focus, not because the person chose to look at it. */
  #passing = $state(false);
  /** Whether the person did anything since the window opened: then nothing takes them elsewhere. */
  #touched = false;

  private constructor(host: Host, state: State) {
    this.#host = host;
    this.#state = state;
    this.paging = new Paging({
      query: (query) => host.query(query),
      page: (session) => this.page(session),
      awaiting: (session) => (this.#state = awaiting(this.#state, session)),
      awaited: (session) => (this.#state = awaited(this.#state, session)),
      join: (session, loaded, side, rest) => (this.#state = withPage(this.#state, session, loaded, side, rest)),
      refused: (session, thrown) => {
        this.#state = unloaded(this.#state, session, faultOf(thrown));
        if (this.page(session)) this.tellFault(thrown);
      },
    });
    this.#healing = new Healing({
      snapshot: () => host.snapshot(),
      state: () => this.#state,
      put: (state) => (this.#state = state),
      shown: (session) => this.page(session) !== undefined || this.#shown.has(session),
      load: (session) => this.paging.end(session),
      refused: (thrown) => this.tellFault(thrown),
    });
  }

  /** Takes a snapshot and hears every event after it; shows what was looked at before, if anything was and is still there. */
  static async open(host: Host, kept: View | null = null): Promise<Desk> {
    const snapshot = await host.snapshot();
    const heard = await underWay(host, snapshot);
    const desk = new Desk(host, fromSnapshot(snapshot, heard));
    await host.subscribe(heard, (events) => desk.#heard.add(events));
    const view = openingView(snapshot, kept);
    desk.view = view;
    if (view.screen === 'session') desk.show(view.session);
    return desk;
  }

  get sessions(): readonly SessionView[] {
    return this.#state.sessions;
  }
  /** The folder that tools are looked at and tried in: the chosen one, else that of the newest session. */
  get toolFolder(): string | null {
    return this.folder ?? this.sessions[0]?.workspace ?? null;
  }
  /** The folders at hand: the chosen one and those of the newest sessions. */
  get folders(): string[] {
    return [
      ...new Set([...(this.folder ? [this.folder] : []), ...this.sessions.map((session) => session.workspace)]),
    ].slice(0, FOLDERS_MAX);
  }
  /** Lets the person choose another folder. */
  async chooseFolder(): Promise<void> {
    this.folder = (await this.pickFolder(this.toolFolder ?? undefined)) ?? this.folder;
  }
  /** Every waiting call, oldest first. */
  get waiting(): readonly CallEntry[] {
    return this.#state.desk;
  }
  get settings(): Settings {
    return this.#state.settings;
  }
  get providers(): State['providers'] {
    return this.#state.providers;
  }
  get faults(): State['faults'] {
    return this.#state.faults;
  }
  get home(): string {
    return this.#state.home;
  }
  get version(): string {
    return this.#state.version;
  }

  /** A session's line; none if there is no such session. */
  session(id: string): SessionView | undefined {
    return this.#state.sessions.find((session) => session.id === id);
  }

  /** The open page of a session. */
  page(session: string): Page | undefined {
    return this.#state.pages.get(session);
  }

  /** Whether a part of a session's transcript is being loaded. */
  loading(session: string): boolean {
    return this.#state.meanwhile.has(session);
  }

  /** Why a session's transcript could not be loaded when it was last tried; none if it could. */
  unloaded(session: string): Fault | undefined {
    return this.#state.unloaded.get(session);
  }

  /** An entry as far as it is loaded. */
  entry(session: string, id: string): Entry | undefined {
    const live = this.#state.live.get(entryKey({ session, id }));
    return live ?? this.#state.pages.get(session)?.entries.find((entry) => entry.id === id);
  }

  /** What a session does at the moment; nothing while it does nothing. */
  under(session: string): Entry | undefined {
    return under(this.#state.live, session);
  }

  /** A session and those that it works for, the outermost first. */
  lineage(session: string): readonly SessionView[] {
    return lineage(this.sessions, session);
  }

  /** The waiting cards of what is looked at, in the order they stand there. */
  get cards(): readonly CallEntry[] {
    return this.view.screen === 'desk' ? this.waiting : this.waiting.filter((entry) => this.#shown.has(entry.session));
  }

  /** The sessions whose calls are looked at: one with those that work for it; none on a screen that shows all or none. */
  readonly #shown: ReadonlySet<string> = $derived.by(() => {
    const one = this.view.screen === 'tools' ? this.tried : this.view.screen === 'session' ? this.view.session : null;
    return one === null ? new Set<string>() : family(this.sessions, one);
  });

  /** The one card whose keys work: the one that last had the focus, else the first. */
  get owner(): CallEntry | undefined {
    const key = this.#owner && entryKey(this.#owner);
    return this.cards.find((entry) => entryKey(entry) === key) ?? this.cards[0];
  }

  /** Its key among the cards of all sessions. */
  get ownerKey(): string | undefined {
    const owner = this.owner;
    return owner && entryKey(owner);
  }

  /** Whether a card owns the keys: none does while a settled one has the focus. */
  owns(entry: Entry): boolean {
    const settled = this.#focused && this.#owner !== null && this.ownerKey !== entryKey(this.#owner);
    return !settled && this.ownerKey === entryKey(entry);
  }

  /** A card took the focus. */
  own(entry: Entry): void {
    this.#owner = { session: entry.session, id: entry.id };
    this.#focused = true;
    this.#looked = this.#owner;
    this.#passing = isCall(entry) && entry.body.state === 'waiting';
  }
  /** A card lost the focus; a settled one then stands in the way of no other. */
  leave(entry: Entry): void {
    if (this.#owner && entryKey(this.#owner) === entryKey(entry)) this.#focused = false;
  }

  /** The call that is looked at; none once a card that was only answered gave way to the next. */
  get selected(): Jump | null {
    const looked = this.#looked;
    const entry = this.#passing && looked ? this.entry(looked.session, looked.id) : undefined;
    return entry && isCall(entry) && entry.body.state !== 'waiting' && this.owner ? null : looked;
  }
  /** Looks at a call in the inspector. */
  set selected(looked: Jump | null) {
    this.#looked = looked;
    this.#passing = false;
    if (looked) this.inspecting = true;
  }
  /** Looks at a call, in the inspector if that is open. */
  look(entry: Entry): void {
    this.#looked = { session: entry.session, id: entry.id };
    this.#passing = false;
  }
  /** What the inspector shows: the call that is looked at, else the one that owns the keys. */
  get inspected(): CallEntry | undefined {
    const looked = this.selected;
    const here = looked && (this.view.screen === 'desk' || this.#shown.has(looked.session));
    const entry = here ? this.entry(looked.session, looked.id) : undefined;
    return entry && isCall(entry) ? entry : this.owner;
  }

  /** The person did something: from now on only they change what is looked at. */
  touch(): void {
    this.#touched = true;
  }

  /** Asks the engine for something. A refusal is told to the person, and gives none. */
  async submit(op: Op): Promise<Receipt | null> {
    try {
      const receipt = await this.#host.submit(op);
      if (SETTING.has(op.type)) await this.refresh();
      return receipt;
    } catch (thrown) {
      this.tellFault(thrown);
      return null;
    }
  }

  /** The same for what tells a refusal beside what caused it: gives why it was refused, none if it was not. */
  async attempt(op: Op): Promise<Fault | null> {
    return this.#host.submit(op).then(() => null, faultOf);
  }

  /** Opens a session and shows it; gives why it could not be opened, none if it was. */
  async begin(op: Extract<Op, { type: 'open_session' }>): Promise<Fault | null> {
    try {
      const { session } = await this.#host.submit(op);
      if (session !== null) this.show(session);
      return null;
    } catch (thrown) {
      return faultOf(thrown);
    }
  }

  /** Asks a question; refused with a fault. */
  query<Q extends Query>(query: Q): Promise<AnswerTo<Q>> {
    return this.#host.query(query);
  }
  pickFolder(from?: string, file = false): Promise<string | null> {
    return this.#host.pickFolder(from, file);
  }
  /** Opens an address of the web in the browser; gives why it was refused, none if it was not. */
  openAddress(address: string): Promise<Fault | null> {
    return this.#host.openAddress(address).then(() => null, faultOf);
  }

  /** Changes some of the settings; false if that was refused, which the person is told. */
  async set(changes: Partial<Settings>): Promise<boolean> {
    const settings = { ...this.settings, ...changes };
    this.#state = { ...this.#state, settings };
    const receipt = await this.submit({ type: 'set_settings', settings });
    if (!receipt) await this.refresh();
    return receipt !== null;
  }

  /** Tells the person that something was refused. */
  tellFault(thrown: unknown): void {
    const fault = faultOf(thrown);
    this.toasts.add({ icon: 'failed', ink: 'failed', title: fault.message, text: fault.hint });
  }

  /** Goes to a screen. */
  go(screen: Exclude<View['screen'], 'session'>): void {
    this.#owner = null;
    this.touch();
    this.view = { screen };
  }

  /** Shows a rule where it stands, among the others. */
  showRule(rule: Rule): void {
    this.rule = rule;
    this.go('rules');
  }

  /** Opens a session at its end, or at an entry. */
  show(session: string, at?: { id: string; seq: number }): void {
    this.#owner = null;
    this.touch();
    this.view = { screen: 'session', session };
    const loaded = at && this.page(session)?.entries.some((entry) => entry.id === at.id);
    if (at) {
      this.#looked = { session, id: at.id };
      this.#passing = false;
      this.jump = { session, id: at.id };
    }
    if (at && !loaded) void this.paging.around(session, at.seq);
    else if (!this.page(session)) void this.paging.end(session);
    // Only the session that is looked at keeps its page, and those that work for it.
    for (const other of this.#state.pages.keys()) {
      if (!this.#shown.has(other)) this.#state = withoutPage(this.#state, other);
    }
  }

  /** Begins the demo and opens it. */
  async playDemo(): Promise<void> {
    const receipt = await this.submit({ type: 'play_demo' });
    if (receipt?.session) this.show(receipt.session);
  }

  /** Opens a session at a call of which only the id is known. */
  async showCall(session: string, call: string): Promise<void> {
    try {
      const { events } = await this.query({ type: 'call_events', session, call });
      const first = events[0];
      if (first) this.show(session, { id: call, seq: first.seq });
    } catch (thrown) {
      this.tellFault(thrown);
    }
  }

  /** Copies a session whole: as Markdown, or its events as JSON Lines. */
  async copySession(session: string, format: 'md' | 'jsonl'): Promise<void> {
    try {
      const answer = await this.query({ type: 'export', session, format });
      await navigator.clipboard.writeText(answer.text);
      this.toasts.add({ icon: 'copy', ink: 'plain', title: 'Copied', text: this.session(session)?.title, brief: true });
    } catch (thrown) {
      this.tellFault(thrown);
    }
  }

  /** Looks anew at the settings, at what is wrong with them, and at who can answer. */
  async refresh(): Promise<void> {
    const asked = ++this.#refreshes;
    try {
      const { settings, providers, faults } = await this.#host.snapshot();
      if (asked !== this.#refreshes) return;
      this.#state = { ...this.#state, settings, providers, faults };
    } catch (thrown) {
      this.tellFault(thrown);
    }
  }

  /** Takes in events that were heard. */
  #take(events: readonly Event[]): void {
    const before = this.#state;
    this.#state = reduce(before, events);
    this.now = Math.max(this.now, Date.now());
    const outside = this.#touched ? null : openedOutside(this.view, events);
    if (outside !== null) this.show(outside);
    this.#tell(before, events);
    if (this.#state.stale.size > 0) void this.#healing.run();
  }

  /** Says what a person should hear of. */
  #tell(before: State, events: readonly Event[]): void {
    const inView = new Set(this.cards.map(entryKey));
    const news = newsOf(before, this.#state, events, {
      inView,
      show: (entry) => this.show(entry.session, entry),
      submit: (op) => void this.submit(op),
    });
    this.changes += news.changes;
    if (news.announced) this.announced = news.announced;
    this.toasts.take(news);
  }
}

export { getDesk, setDesk } from './context';
export { entryKey, isCall, type CallEntry };
