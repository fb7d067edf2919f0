// The Servers screen's memory: the servers as the engine tells them, which one is looked at, and what is being done.

import type { Fault } from '../../ipc/bindings/Fault';
import type { ServerChange } from '../../ipc/bindings/ServerChange';
import type { ServerView } from '../../ipc/bindings/ServerView';
import { faultOf } from '../../ipc/desk';
import type { Desk } from '../../state/desk.svelte';
import type { Doing } from './words';

/** What fills the screen. */
export type Page = { at: 'all' } | { at: 'add' } | { at: 'import' };
/** The sides of one server. */
export type Side = 'tools' | 'log' | 'setup';

/** How long what was told holds, in milliseconds: nothing tells that a server changed, so it is asked again. */
const FRESH_MS = 1_900;

export class Shelf {
  servers: readonly ServerView[] = $state.raw([]);
  /** Why none of them can be used, or be told. */
  fault: Fault | null = $state.raw(null);
  loaded = $state(false);
  page: Page = $state.raw({ at: 'all' });
  side: Side = $state('tools');
  /** The name of the server that was last looked at. */
  #picked = $state('');
  #doing: ReadonlyMap<string, Doing> = $state.raw(new Map());
  #troubles: ReadonlyMap<string, Fault> = $state.raw(new Map());
  #askedAt = -FRESH_MS;
  #asking: Promise<void> | null = null;
  readonly #desk: Desk;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /** The server that is looked at. */
  get server(): ServerView | undefined {
    return this.servers.find((server) => server.settings.id === this.#picked) ?? this.servers[0];
  }
  pick(id: string): void {
    this.#picked = id;
  }
  go(page: Page): void {
    this.page = page;
  }
  /** What is being done with a server; none if nothing is. */
  doing(id: string): Doing | undefined {
    return this.#doing.get(id);
  }
  /** Why the last thing that was done with a server was refused. */
  trouble(id: string): Fault | undefined {
    return this.#troubles.get(id);
  }
  /** Puts that aside. */
  settle(id: string): void {
    this.#troubles = new Map([...this.#troubles].filter(([other]) => other !== id));
  }

  /** Asks anew if what was told is no longer fresh. */
  async refresh(now: number): Promise<void> {
    if (Math.abs(now - this.#askedAt) >= FRESH_MS) await this.load(now);
  }
  async load(now = Date.now()): Promise<void> {
    this.#askedAt = now;
    this.#asking ??= this.#ask().finally(() => (this.#asking = null));
    return this.#asking;
  }
  async #ask(): Promise<void> {
    try {
      const { servers, fault } = await this.#desk.query({ type: 'servers' });
      const before = new Map(this.servers.map((server) => [server.settings.id, server]));
      // One that is as it was stays the same object: nothing of it is drawn anew.
      this.servers = servers.map((server) => {
        const known = before.get(server.settings.id);
        return known && JSON.stringify(known) === JSON.stringify(server) ? known : server;
      });
      this.fault = fault;
    } catch (thrown) {
      this.fault = faultOf(thrown);
    }
    this.loaded = true;
  }

  /** Changes a server; false if that was refused, which then stands beside it. */
  async change(id: string, change: ServerChange, doing: Doing): Promise<boolean> {
    if (this.#doing.has(id)) return false;
    this.settle(id);
    this.#doing = new Map([...this.#doing, [id, doing]]);
    const fault = await this.#desk.attempt({ type: 'change_server', server: id, change });
    // What was asked before the change tells of the time before it.
    await this.#asking;
    await this.load();
    this.#doing = new Map([...this.#doing].filter(([other]) => other !== id));
    if (fault) this.#troubles = new Map([...this.#troubles, [id, fault]]);
    return fault === null;
  }
  /** Puts a secret into the keychain, or takes it out with an empty one; why not, if so. */
  secret(name: string, key: string): Promise<Fault | null> {
    return this.#desk.attempt({ type: 'set_key', provider: `mcp:${name}`, key });
  }
  tell(title: string, text?: string): void {
    this.#desk.toasts.add({ icon: 'check', ink: 'plain', title, text, brief: true });
    this.#desk.announced = `${title}.`;
  }
}

const shelves = new WeakMap<Desk, Shelf>();

/** The shelf of a desk: one, whatever shows it. */
export function shelfOf(desk: Desk): Shelf {
  const shelf = shelves.get(desk) ?? new Shelf(desk);
  shelves.set(desk, shelf);
  return shelf;
}
