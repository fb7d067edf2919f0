// Navigation: the screen in the middle of the window, and the last selection of each screen.

import type { NewRule, Op, Rule, UserError } from '../ipc/bindings';
import { faultOf, type ShowTarget } from '../ipc/desk';
import { withDescendants } from './sub_agents';
import type { Store } from './store.svelte';
import type { Jump, SettingsFocus, SettingsSection, View } from './view';

/** Further effects of navigation. */
interface Hooks {
  /** Called when the current screen is left. */
  leave(): void;
  /** Called when an entry is opened. */
  enter(entry: Jump): void;
  /** Called when a folder is chosen. */
  choose(workspace: string): void;
}

export class Navigation {
  /** The open screen. */
  view: View = $state.raw({ screen: 'start' });
  /** The entry to scroll to, once. */
  jump: Jump | null = $state.raw(null);
  /** The rule to be shown among the others, once. */
  rule: Rule | null = $state.raw(null);
  /** The rule to begin to write, once. */
  newRule: NewRule | null = $state.raw(null);
  /** Id of the agent to begin a session with, once. */
  newAgent: string | null = $state.raw(null);
  /** Part of the settings that gets the focus, once. */
  settingsFocus: SettingsFocus | null = $state.raw(null);
  /** The screen from which the settings were opened; none if they were open from the beginning. */
  beforeSettings: View | null = $state.raw(null);
  /** Text of the last search; kept while other screens are open. */
  searchText = $state('');
  /** The last selected change in the history. */
  historyEntry = $state('');
  /** The id of the last selected tool. */
  tool = $state('');
  /** The session in which a tool was last tried; its cards stand on the Tools screen too. */
  triedSession: string | null = $state(null);
  /** The last open section of the settings. */
  #section: SettingsSection = 'providers';
  /** Whether the person did anything since the window opened: then nothing takes them elsewhere. */
  #touched = false;
  readonly #store: Store;
  readonly #hooks: Hooks;

  constructor(store: Store, hooks: Hooks) {
    this.#store = store;
    this.#hooks = hooks;
  }

  /** The sessions whose calls are visible: one with those that work for it; none on a screen that shows all or none. */
  readonly shown: ReadonlySet<string> = $derived.by(() => {
    const { view } = this;
    const one = view.screen === 'tools' ? this.triedSession : view.screen === 'session' ? view.session : null;
    return one === null ? new Set<string>() : withDescendants(this.#store.sessions, one);
  });

  get touched(): boolean {
    return this.#touched;
  }
  /** Marks that the person did something: from now on only they change the open screen. */
  touch(): void {
    this.#touched = true;
  }

  /** Goes to a screen. */
  go(screen: Exclude<View['screen'], 'session' | 'settings'>): void {
    this.#hooks.leave();
    this.touch();
    this.view = { screen };
  }

  /**
   * Opens the settings: where they were last, or at a section, with the focus on its heading or in the field for the key of
   * a provider.
   */
  openSettings(section?: SettingsSection, provider?: string): void {
    if (this.view.screen !== 'settings') this.beforeSettings = this.view;
    if (provider !== undefined) this.settingsFocus = { on: 'key', provider };
    else this.settingsFocus = { on: section === undefined ? 'index' : 'heading' };
    this.#hooks.leave();
    this.touch();
    this.showSection(section ?? this.#section);
  }

  /** Shows a section of the settings, without a move of the focus. */
  showSection(section: SettingsSection): void {
    this.#section = section;
    this.view = { screen: 'settings', section };
  }

  /** Goes back to the screen from which the settings were opened. */
  leaveSettings(): void {
    const before = this.beforeSettings;
    if (before === null || before.screen === 'settings') return;
    if (before.screen === 'session') this.show(before.session);
    else this.go(before.screen);
  }

  /** Shows a rule where it stands, among the others. */
  showRule(rule: Rule): void {
    this.rule = rule;
    this.go('rules');
  }

  /** Begins to write a rule, in the folder where it would hold; in the present one if none is named. */
  beginRule(rule: NewRule, workspace?: string): void {
    if (workspace) this.#hooks.choose(workspace);
    this.newRule = rule;
    this.go('rules');
  }

  /** Begins a session in which an agent of somebody else answers: its folder and first message are still to be chosen. */
  beginAgentSession(agent: string): void {
    this.newAgent = agent;
    this.go('start');
  }

  /** Shows a change where it stands, among the others of the history. */
  showHistoryEntry(id: string): void {
    this.historyEntry = id;
    this.go('history');
  }

  /** Opens a session at its end, or at an entry. */
  show(session: string, at?: { id: string; seq: number }): void {
    this.#hooks.leave();
    this.touch();
    this.view = { screen: 'session', session };
    const page = this.#store.page(session);
    if (at) {
      this.jump = { session, id: at.id };
      this.#hooks.enter(this.jump);
    }
    if (at && !page?.entries.some((entry) => entry.id === at.id)) void this.#store.paging.around(session, at.seq);
    else if (!page) void this.#store.paging.end(session);
    // Only the open session, and those that work for it, keep their pages.
    this.#store.dropPages((other) => this.shown.has(other));
  }

  /** Opens what was chosen outside the window, by a link that may be of long ago. */
  async showTarget({ session, call }: ShowTarget): Promise<void> {
    if (!this.#store.session(session))
      this.#store.tellFault({
        message: 'This session is not on record.',
        hint: 'It was deleted, or belongs to another machine.',
        context: [],
      });
    else if (call === null) this.show(session);
    else await this.showCall(session, call);
  }

  /** Opens a session at a call of which only the id is known. */
  async showCall(session: string, call: string): Promise<void> {
    try {
      const { events } = await this.#store.query({ type: 'call_events', session, call });
      const first = events[0];
      if (first) this.show(session, { id: call, seq: first.seq });
    } catch (thrown) {
      this.#store.tellFault(thrown);
    }
  }

  /** Begins a session and shows it; gives why it could not be begun, none if it was. */
  async openSession(op: Extract<Op, { type: 'open_session' }>): Promise<UserError | null> {
    try {
      const { session } = await this.#store.order(op);
      if (session !== null) this.show(session);
      return null;
    } catch (thrown) {
      return faultOf(thrown);
    }
  }

  /** Begins the demo and opens it. */
  async playDemo(): Promise<void> {
    const receipt = await this.#store.submit({ type: 'play_demo' });
    if (receipt?.session) this.show(receipt.session);
  }
}
