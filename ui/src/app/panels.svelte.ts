// The panels beside the screen and over it: inspector, briefing, the panel of the rules, palette, keys.

import { createContext, tick } from 'svelte';
import { focusCard } from '../domain/card_focus';
import type { Book } from '../features/rules/book.svelte';
import type { Desk } from '../state/desk.svelte';
import { skipsAsks } from '../state/skipped_asks';
import type { WindowActs } from './commands';
import { Landmarks } from './landmarks';
import { part } from './routes.svelte';
import { settleFocus, stepFocus } from './screen_focus';
import { windowKey } from './window_keys';

/** From this width on the panel stands beside the screen, not over it. */
const BESIDE_MIN = 1200;
/** From this width on the rail has room for names beside its icons. */
const NAMES_MIN = 900;

export class Panels {
  /** The overlay that is open over the whole window. */
  over: 'palette' | 'keys' | null = $state(null);
  width = $state(window.innerWidth);
  /** Whether the rail was opened over the screen, for its names. */
  #railOpened = $state(false);
  /** Whether the briefing of the open session was opened. */
  #briefed = $state(false);
  /** Element that had the focus before an overlay was opened. */
  #before: Element | null = null;
  readonly #desk: Desk;
  readonly #landmarks: Landmarks;

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#landmarks = new Landmarks(desk);
  }

  /** How the rail stands: beside the screen with its names, there with icons alone, or over the screen with its names. */
  readonly rail: 'names' | 'icons' | 'over' = $derived.by(() =>
    this.width >= NAMES_MIN ? 'names' : this.#railOpened ? 'over' : 'icons',
  );
  /** The open session. */
  readonly session = $derived.by(() => {
    const { view } = this.#desk.navigation;
    return view.screen === 'session' ? this.#desk.session(view.session) : undefined;
  });
  /** State of the rules screen, while that screen is open. */
  readonly book: Book | null = $derived.by(() =>
    this.#desk.navigation.view.screen === 'rules' ? (part('book')?.bookOf(this.#desk) ?? null) : null,
  );
  readonly briefing = $derived.by(() => this.#briefed && this.session !== undefined);
  /** Whether the screen has calls that the inspector can show. */
  readonly hasInspector = $derived.by(() => {
    const { view, triedSession } = this.#desk.navigation;
    return view.screen === 'session' || view.screen === 'desk' || (view.screen === 'tools' && triedSession !== null);
  });
  /** Whether the inspector is open: beside the transcript where there is room, unless the person closed it; elsewhere when asked for. */
  readonly inspector = $derived.by(() => {
    const { navigation, selection } = this.#desk;
    const beside = navigation.view.screen === 'session' && this.width >= BESIDE_MIN;
    return this.hasInspector && (selection.inspectorOpen ?? beside);
  });
  /** Whether the inspector is the panel that is visible beside the screen. */
  readonly inspectorSeen = $derived.by(() => this.inspector && !this.briefing);
  /** Name of the panel that is visible beside the screen; none if there is none. */
  readonly name = $derived.by(() => {
    if (this.briefing) return 'Briefing';
    if (this.book) return this.book.side ? 'Rule' : null;
    return this.inspector ? 'Inspector' : null;
  });

  async open(what: 'palette' | 'keys'): Promise<void> {
    this.#before = document.activeElement;
    this.over = what;
    await tick();
  }
  /** Closes the overlay. */
  async close(): Promise<void> {
    this.over = null;
    await tick();
    // What a command gave the focus to keeps it.
    if (document.activeElement !== null && document.activeElement !== document.body) return;
    if (this.#before instanceof HTMLElement && this.#before.isConnected) this.#before.focus();
  }
  toggleRail(): void {
    this.#railOpened = this.rail === 'icons';
  }
  toggleInspector(): void {
    const { book } = this;
    if (book?.side) void this.closePanel();
    else book?.begin();
    if (!this.hasInspector) return;
    const seen = this.inspectorSeen;
    this.#briefed = false;
    this.#desk.selection.inspectorOpen = !seen;
  }
  toggleBriefing(): void {
    this.#briefed = !this.briefing;
  }
  /** Closes the panel beside the screen. */
  async closePanel(): Promise<void> {
    const back = this.book ? this.book.close() : null;
    if (this.briefing) this.#briefed = false;
    else if (!this.book) this.#desk.selection.inspectorOpen = false;
    await tick();
    back?.focus();
    await settleFocus(() => this.#desk.focus.ownerKey);
  }

  /** Carries out the act of a key. */
  onkeydown(event: KeyboardEvent): void {
    const key = windowKey(event, this.#desk.keymap);
    if (key === null) return;
    // Only a session is searched for itself.
    if (key === 'find_in_session' && (!this.session || this.over)) return;
    if (key === 'rail' && this.rail === 'names') return;
    if (key !== 'escape') event.preventDefault();
    const { ownerKey } = this.#desk.focus;
    if (key === 'palette') void (this.over ? this.close() : this.open('palette'));
    else if (key === 'settings') this.#toSettings();
    else if (key === 'search') this.#desk.navigation.go('search');
    else if (key === 'keys') void this.open('keys');
    else if (key === 'inspector') this.toggleInspector();
    else if (key === 'find_in_session') this.#desk.reading.find();
    else if (key === 'rail') this.toggleRail();
    else if (key === 'next_card') stepFocus(1, ownerKey);
    else if (key === 'previous_card') stepFocus(-1, ownerKey);
    else if (key === 'zoom_in') this.#zoom((desk) => desk.zoom.step(1));
    else if (key === 'zoom_out') this.#zoom((desk) => desk.zoom.step(-1));
    else if (key === 'zoom_reset') this.#zoom((desk) => desk.zoom.reset());
    else if (key === 'ask_again') this.#askAgain();
    else if (key === 'escape') this.#escape();
    else void this.#landmarks.jump(key);
  }
  #zoom(act: (desk: Desk) => Promise<void>): void {
    act(this.#desk).catch((thrown: unknown) => this.#desk.tellFault(thrown));
  }
  /** Lets calls ask again: of the open session, or of every one where none is open. */
  #askAgain(): void {
    const { sessions, now } = this.#desk;
    if (!sessions.some((session) => skipsAsks(session, now))) return;
    void this.#desk.submit({ type: 'resume_asks', session: this.session?.id ?? null });
  }
  #toSettings(): void {
    this.over = null;
    this.#desk.navigation.openSettings();
  }
  #escape(): void {
    if (this.over) return;
    const { ownerKey } = this.#desk.focus;
    const isOver = (this.inspector || this.book?.side) && this.width < BESIDE_MIN;
    if (this.briefing || isOver) void this.closePanel();
    else if (ownerKey !== undefined) focusCard(ownerKey);
  }

  /** Returns the palette's commands besides navigation. */
  acts(theme: 'light' | 'dark', appearance: () => void): WindowActs {
    return {
      theme,
      servers: (kind, at) => {
        this.#desk.navigation.go('servers');
        part('sources')?.sourceStores(this.#desk).go(kind, { at });
      },
      rules: (act) => void this.#toRules(act),
      appearance,
      inspector: () => this.toggleInspector(),
      briefing: () => this.toggleBriefing(),
      keys: () => void this.open('keys'),
      jump: (to) => void this.#landmarks.jump(to),
    };
  }
  /** Goes to the rules, and does something there. */
  async #toRules(act: (book: Book) => void): Promise<void> {
    if (this.#desk.navigation.view.screen !== 'rules') this.#desk.navigation.go('rules');
    await tick();
    const book = part('book')?.bookOf(this.#desk);
    if (book && !book.view) await book.load();
    if (book) act(book);
  }
}

/** The panels of the window that a component stands in. */
export const [getPanels, setPanels] = createContext<Panels>();
