// The prompts and skills offered in the box of one session: listed, chosen, filled in, and fetched.

import type { ServerResources, UserError } from '../../ipc/bindings';
import { faultOf } from '../../ipc/desk';
import type { Desk } from '../../state/desk.svelte';
import { matching } from '../../widgets/match';
import { filledPrompt, promptsOf, skillsOf, skillText, takenOf, typedIn, type Offered, type Taken } from './prompts';

/** How long an answer stays fresh, in milliseconds. */
const FRESH_MS = 30_000;
/** Pages of one server's list. */
const PAGES_MAX = 10;

/** A server that could not tell of its prompts, and why. */
interface Trouble {
  server: string;
  fault: UserError;
}

/** The offers of one session. */
export class Offers {
  list: readonly Offered[] = $state.raw([]);
  troubles: readonly Trouble[] = $state.raw([]);
  /** Servers that have not answered yet. */
  asked: readonly string[] = $state.raw([]);
  /** Index of the marked offer among the fitting ones. */
  at = $state(0);
  /** The offer whose form is filled in. */
  form: Offered | null = $state.raw(null);
  /** The prompt that a server is asked for. */
  fetching: Offered | null = $state.raw(null);
  /** Why the last prompt could not be fetched. */
  fault: UserError | null = $state.raw(null);
  /** Text in the box that a server wrote. */
  taken: Taken | null = $state.raw(null);
  /** Whether the list was dismissed, for as long as the same line is typed. */
  #away = $state(false);
  #round = 0;
  #loadedAt = -FRESH_MS;
  #fetch = 0;
  readonly #desk: Desk;
  readonly #workspace: string;

  constructor(desk: Desk, workspace: string) {
    this.#desk = desk;
    this.#workspace = workspace;
  }

  /** Returns the offers that fit the typed text; none if the text is no search. */
  fitting(text: string): readonly Offered[] | null {
    const typed = typedIn(text);
    return typed === null || this.#away || this.form !== null || this.fetching !== null
      ? null
      : matching(this.list, typed);
  }
  /** Another text stands in the box. */
  typed(text: string): void {
    this.at = 0;
    this.fault = null;
    // A line that begins anew is another one.
    if (typedIn(text) === null || text === '/') this.#away = false;
    if (typedIn(text) !== null && !this.#away) void this.#load(Date.now());
    if (text.trim() === '' || text === '/') this.taken = null;
  }
  putAway(): void {
    this.#away = true;
  }
  move(step: number, of: number): void {
    this.at = of === 0 ? 0 : (this.at + step + of) % of;
  }

  /** Takes up an offer: returns the text for the box, or none while it is not there yet or cannot be had. */
  async take(offered: Offered, given: Readonly<Record<string, string>> | null = null): Promise<string | null> {
    this.fault = null;
    if (offered.server === null) {
      this.#away = true;
      return skillText(offered.name);
    }
    if (offered.asks.length > 0 && given === null) {
      this.form = offered;
      return null;
    }
    const fetch = ++this.#fetch;
    this.fetching = offered;
    try {
      const { resources } = await this.#desk.query({
        type: 'server_resources',
        server: offered.server,
        wanted: { type: 'prompt', name: offered.name, arguments: filledPrompt(offered.asks, given ?? {}) },
      });
      if (fetch !== this.#fetch) return null;
      const taken = takenOf(offered.server, offered.name, resources.type === 'text' ? resources.parts : []);
      if (taken.text.trim() === '') throw new Error('The server gave a prompt without any text.');
      [this.taken, this.form, this.#away] = [taken, null, true];
      return taken.text;
    } catch (thrown) {
      if (fetch === this.#fetch) this.fault = faultOf(thrown);
      return null;
    } finally {
      if (fetch === this.#fetch) this.fetching = null;
    }
  }
  /** Stops waiting for a server's prompt, or closes the form. */
  leave(): void {
    this.#fetch += 1;
    [this.fetching, this.form] = [null, null];
  }
  sent(): void {
    this.leave();
    [this.taken, this.fault, this.#away] = [null, null, false];
  }

  async #load(now: number): Promise<void> {
    if (now - this.#loadedAt < FRESH_MS) return;
    this.#loadedAt = now;
    const round = ++this.#round;
    [this.list, this.troubles, this.asked] = [[], [], []];
    const add = (more: readonly Offered[]) => {
      if (round === this.#round) this.list = [...this.list, ...more];
    };
    const failed = (server: string, thrown: unknown) => {
      if (round === this.#round) this.troubles = [...this.troubles, { server, fault: faultOf(thrown) }];
    };
    try {
      const { servers } = await this.#desk.query({ type: 'servers' });
      const on = servers.filter((one) => one.settings.enabled).map((one) => one.settings.id);
      if (round !== this.#round) return;
      this.asked = on;
      const all = on.map(async (server) => {
        try {
          await this.#pages(server, add);
        } catch (thrown) {
          failed(server, thrown);
        }
        if (round === this.#round) this.asked = this.asked.filter((one) => one !== server);
      });
      await Promise.all([...all, this.#skills(add)]);
    } catch (thrown) {
      failed('', thrown);
    }
    // A list that failed is asked for again the next time.
    if (round === this.#round && this.troubles.length > 0) this.#loadedAt = -FRESH_MS;
  }
  async #pages(server: string, add: (more: readonly Offered[]) => void): Promise<void> {
    let cursor: string | null = null;
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const told: ServerResources = (
        await this.#desk.query({ type: 'server_resources', server, wanted: { type: 'prompts', cursor } })
      ).resources;
      if (told.type !== 'page') return;
      add(promptsOf(server, told.items));
      if (told.next === null || told.next === cursor) return;
      cursor = told.next;
    }
  }
  async #skills(add: (more: readonly Offered[]) => void): Promise<void> {
    // The briefing tells why a skill is missing.
    const briefing = await this.#desk.query({ type: 'briefing', workspace: this.#workspace }).catch(() => null);
    if (briefing) add(skillsOf(briefing.skills));
  }
}

const known = new WeakMap<Desk, Map<string, Offers>>();

/** Returns the offers of a session, the same object for every component. */
export function offersOf(desk: Desk, session: string, workspace: string): Offers {
  const all = known.get(desk) ?? new Map<string, Offers>();
  known.set(desk, all);
  const offers = all.get(session) ?? new Offers(desk, workspace);
  all.set(session, offers);
  return offers;
}
