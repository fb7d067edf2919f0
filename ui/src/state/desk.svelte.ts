// The store that every feature is handed: the events, and the person's acts by subject.

import type { Event } from '../ipc/bindings';
import type { Host } from '../ipc/desk';
import { Agents } from './agents.svelte';
import { Deletion } from './deletion.svelte';
import { isCall, type CallEntry } from './fold';
import { Focus } from './focus.svelte';
import { Folders } from './folders.svelte';
import { Keymap } from './keymap/keymap';
import { Navigation } from './navigation.svelte';
import { newsOf } from './news';
import { openedOutside, openingView } from './opening';
import { Reading } from './reading.svelte';
import { entryKey, fromSnapshot, type State } from './reduce';
import { Selection } from './selection.svelte';
import { Store } from './store.svelte';
import { RuleOffer } from './rule_offer.svelte';
import { replayStart } from './replay_start';
import { Updates } from './updates.svelte';
import type { View } from './view';
import { Zoom } from './zoom.svelte';

export class Desk extends Store {
  readonly navigation: Navigation;
  readonly selection: Selection;
  readonly focus: Focus;
  readonly folders: Folders;
  readonly agents: Agents;
  readonly ruleOffer: RuleOffer;
  readonly deletion: Deletion;
  readonly reading = new Reading();
  readonly updates: Updates;
  readonly zoom: Zoom;
  /** The settings as an object of their own: the keys are read anew when they change, and not with every event. */
  readonly #settings = $derived(this.settings);
  /** The keys that the commands have now. */
  readonly keymap: Keymap = $derived(new Keymap(this.#settings));

  private constructor(host: Host, state: State) {
    super(host, state);
    this.updates = new Updates(host);
    this.zoom = new Zoom(host);
    this.navigation = new Navigation(this, {
      leave: () => this.focus.forget(),
      enter: (entry) => this.selection.look(entry),
      choose: (workspace) => (this.folders.chosen = workspace),
    });
    this.selection = new Selection(this, this.navigation, () => this.focus.owner);
    this.focus = new Focus(this, this.navigation, this.selection);
    this.folders = new Folders(this);
    this.agents = new Agents(this);
    this.ruleOffer = new RuleOffer(this, this.navigation);
    this.deletion = new Deletion(this);
  }

  /**
   * Takes a snapshot and subscribes to every event after it; shows the screen that was open before, if it still exists.
   */
  static async open(host: Host, kept: View | null = null): Promise<Desk> {
    const snapshot = await host.snapshot();
    const after = await replayStart(host, snapshot);
    const desk = new Desk(host, fromSnapshot(snapshot, after));
    await desk.subscribe(after);
    void desk.agents.load();
    void desk.updates.watch().catch((thrown: unknown) => desk.tellFault(thrown));
    void desk.zoom.apply().catch((thrown: unknown) => desk.tellFault(thrown));
    const view = openingView(snapshot, kept);
    desk.navigation.view = view;
    if (view.screen === 'session') desk.navigation.show(view.session);
    return desk;
  }

  protected isShown(session: string): boolean {
    return this.navigation.shown.has(session);
  }

  protected onEvents(before: State, after: State, events: readonly Event[]): void {
    const { navigation } = this;
    const outside = navigation.touched ? null : openedOutside(navigation.view, events);
    if (outside !== null) navigation.show(outside);
    const news = newsOf(before, after, events, {
      inView: new Set(this.focus.cards.map(entryKey)),
      show: (entry) => navigation.show(entry.session, entry),
      submit: (op) => void this.submit(op),
    });
    this.changes += news.changes;
    if (news.announced) this.announced = news.announced;
    this.toasts.take(news);
    void this.ruleOffer.take(events.filter(({ seq }) => seq > before.seq));
  }
}

export { getDesk, setDesk } from './context';
export { entryKey, isCall, type CallEntry };
