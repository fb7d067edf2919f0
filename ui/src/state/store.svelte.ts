// The store: the pure state, fed by the host, and the requests to the host.

import type {
  ConnectionAction,
  ConnectionPlan,
  ConnectionView,
  Entry,
  Event,
  Op,
  OpReceipt,
  Query,
  SessionImport,
  SessionView,
  Settings,
  UserError,
} from '../ipc/bindings';
import { faultOf, type AnswerTo, type ExportFormat, type Host, type ShowTarget } from '../ipc/desk';
import { fromHome } from '../widgets/figures';
import { ancestors, currentStep } from './sub_agents';
import type { CallEntry } from './fold';
import {
  withLoaded,
  withLoading,
  entryKey,
  reduce,
  withFailure,
  withoutPage,
  withPage,
  type Page,
  type State,
} from './reduce';
import { Batches } from './batches';
import { Healing } from './healing';
import { Paging } from './paging';
import { withSteadyTimes } from './session_times';
import { Toasts } from './toasts.svelte';

/** Ops that change the settings, and with them the faults. */
const SETTING = new Set<Op['type']>([
  'set_settings',
  'set_key',
  'set_tool',
  'save_rules',
  'add_rules',
  'trust_rules',
  'distrust_rules',
]);

export abstract class Store {
  readonly #host: Host;
  #state: State = $state.raw()!;
  #steady: readonly SessionView[] = [];
  /** What is made of the sessions is made anew when they change, and not with every piece of a stream. */
  readonly #sessions = $derived((this.#steady = withSteadyTimes(this.#steady, this.#state.sessions)));
  /** A fast stream does not draw more often than the screen. */
  readonly #batches = new Batches<Event>((events) => this.#take(events));
  /** Number of requests for the settings: only the newest answer is taken. */
  #refreshes = 0;

  /** The current time, from which ages are counted, in milliseconds since 1970; moves once a second. */
  now = $state(Date.now());
  /** Grows when something was changed, undone or done again. */
  changes = $state(0);
  /** The last thing that a screen reader should say. */
  announced = $state('');
  readonly toasts = new Toasts();
  /** Loads stretches of transcripts. */
  readonly paging: Paging;
  readonly #healing: Healing;

  protected constructor(host: Host, state: State) {
    this.#host = host;
    this.#state = state;
    this.paging = new Paging({
      query: (query) => host.query(query),
      page: (session) => this.page(session),
      awaiting: (session) => (this.#state = withLoading(this.#state, session)),
      awaited: (session) => (this.#state = withLoaded(this.#state, session)),
      join: (session, loaded, side, rest) => (this.#state = withPage(this.#state, session, loaded, side, rest)),
      refused: (session, thrown) => {
        this.#state = withFailure(this.#state, session, faultOf(thrown));
        if (this.page(session)) this.tellFault(thrown);
      },
    });
    this.#healing = new Healing({
      snapshot: () => host.snapshot(),
      state: () => this.#state,
      put: (state) => (this.#state = state),
      shown: (session) => this.page(session) !== undefined || this.isShown(session),
      load: (session) => this.paging.end(session),
      refused: (thrown) => this.tellFault(thrown),
    });
  }

  /** Tells whether the calls of a session are visible. */
  protected abstract isShown(session: string): boolean;
  /** Runs after events were taken in. */
  protected abstract onEvents(before: State, after: State, events: readonly Event[]): void;

  /** Subscribes to every event after a position. */
  protected async subscribe(after: number): Promise<void> {
    await this.#host.subscribe(after, (events) => this.#batches.add(events));
  }

  get sessions(): readonly SessionView[] {
    return this.#sessions;
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
  /** The file that holds the settings. */
  get settingsFile(): string {
    return this.#state.settingsFile;
  }
  get version(): string {
    return this.#state.version;
  }

  /** A session's line; none if there is no such session. */
  session(id: string): SessionView | undefined {
    return this.#sessions.find((session) => session.id === id);
  }

  /** The open page of a session. */
  page(session: string): Page | undefined {
    return this.#state.pages.get(session);
  }

  /** Whether a part of a session's transcript is being loaded. */
  loading(session: string): boolean {
    return this.#state.meanwhile.has(session);
  }

  /** Returns why the last attempt to load a session's transcript failed; none if it succeeded. */
  failure(session: string): UserError | undefined {
    return this.#state.unloaded.get(session);
  }

  /** An entry as far as it is loaded. */
  entry(session: string, id: string): Entry | undefined {
    const live = this.#state.live.get(entryKey({ session, id }));
    return live ?? this.#state.pages.get(session)?.entries.find((entry) => entry.id === id);
  }

  /** Returns the current step of a session; none while it is idle. */
  currentStep(session: string): Entry | undefined {
    return currentStep(this.#state.live, session);
  }

  /** Returns a session and those that it works for, the outermost first. */
  ancestors(session: string): readonly SessionView[] {
    return ancestors(this.sessions, session);
  }

  /** Submits an op to the engine. A refusal is reported to the person, and returns none. */
  async submit(op: Op): Promise<OpReceipt | null> {
    try {
      const receipt = await this.#host.submit(op);
      if (SETTING.has(op.type)) await this.refresh();
      return receipt;
    } catch (thrown) {
      this.tellFault(thrown);
      return null;
    }
  }

  /** The same, refused with a fault. */
  order(op: Op): Promise<OpReceipt> {
    return this.#host.submit(op);
  }

  /**
   * Submits an op like `submit`, for callers that show a refusal in place: returns the refusal, none if there was none.
   */
  async attempt(op: Op): Promise<UserError | null> {
    return this.order(op).then(() => null, faultOf);
  }

  /** Asks a question; refused with a fault. */
  query<Q extends Query>(query: Q): Promise<AnswerTo<Q>> {
    return this.#host.query(query);
  }
  pickFolder(from?: string, file = false): Promise<string | null> {
    return this.#host.pickFolder(from, file);
  }
  /** Opens an address of the web in the browser; gives why it was refused, none if it was not. */
  openAddress(address: string): Promise<UserError | null> {
    return this.#host.openAddress(address).then(() => null, faultOf);
  }

  /** Lists the agents that can be connected; refused with a fault, as all about connections. */
  listConnections(): Promise<ConnectionView[]> {
    return this.#host.listConnections();
  }
  planConnection(agent: string, action: ConnectionAction): Promise<ConnectionPlan | null> {
    return this.#host.planConnection(agent, action);
  }
  changeConnection(agent: string, action: ConnectionAction, shown: string): Promise<void> {
    return this.#host.changeConnection(agent, action, shown);
  }
  importSessions(agent: string): Promise<SessionImport> {
    return this.#host.importSessions(agent);
  }

  /** Changes some of the settings; false if that was refused, which is reported to the person. */
  async set(changes: Partial<Settings>): Promise<boolean> {
    const settings = { ...this.settings, ...changes };
    this.#state = { ...this.#state, settings };
    const receipt = await this.submit({ type: 'set_settings', settings });
    if (!receipt) await this.refresh();
    return receipt !== null;
  }

  /** The same, for callers that show a refusal in place: returns the refusal, none if there was none. */
  async attemptSet(changes: Partial<Settings>): Promise<UserError | null> {
    const refused = await this.attempt({ type: 'set_settings', settings: { ...this.settings, ...changes } });
    await this.refresh();
    return refused;
  }

  /** Tells the person that something was refused. */
  tellFault(thrown: unknown): void {
    const fault = faultOf(thrown);
    this.toasts.add({ icon: 'failed', ink: 'failed', title: fault.message, text: fault.hint });
  }

  /** Forgets the pages of the sessions that need not be kept. */
  dropPages(isKept: (session: string) => boolean): void {
    for (const session of this.#state.pages.keys()) {
      if (!isKept(session)) this.#state = withoutPage(this.#state, session);
    }
  }

  /** Copies a session whole: as Markdown, or its events as JSON Lines. */
  async copySession(session: string, format: 'md' | 'jsonl'): Promise<void> {
    try {
      const answer = await this.query({ type: 'export', session, format });
      await this.copyText(answer.text, this.session(session)?.title);
    } catch (thrown) {
      this.tellFault(thrown);
    }
  }

  /** Shows a file of a workspace in the file manager. */
  async showInFolder(workspace: string, path: string): Promise<void> {
    try {
      await this.#host.showInFolder(workspace, path);
    } catch (thrown) {
      this.tellFault(thrown);
    }
  }

  /** Calls `show` with each session or call that was chosen outside the window, until the returned act ends that. */
  onShowTarget(show: (target: ShowTarget) => void): () => void {
    return this.#host.onShowTarget(show);
  }

  /** Exports a session into a file that the person chooses, and says which. */
  async exportSession(session: string, format: ExportFormat): Promise<void> {
    try {
      const file = await this.#host.exportSession(session, format);
      if (file === null) return;
      this.toasts.add({ icon: 'done', ink: 'plain', title: 'Session exported', text: fromHome(file, this.home) });
    } catch (thrown) {
      this.tellFault(thrown);
    }
  }

  /** Copies a text, and says so by the name of it. */
  async copyText(text: string, name: string | undefined): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.toasts.add({ icon: 'copy', ink: 'plain', title: 'Copied', text: name, brief: true });
    } catch (thrown) {
      this.tellFault(thrown);
    }
  }

  /** Loads the settings, their faults, and the ready providers anew. */
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
    this.onEvents(before, this.#state, events);
    if (this.#state.stale.size > 0) void this.#healing.run();
  }
}
