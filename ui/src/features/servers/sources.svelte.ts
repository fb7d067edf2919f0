// The state of the Servers screen: servers and services as the engine tells them, the selection, and the acts under
// way.

import type { ApiChange, ApiView, Op, ServerChange, ServerView, UserError } from '../../ipc/bindings';
import { faultOf } from '../../ipc/desk';
import type { Desk } from '../../state/desk.svelte';
import type { Doing } from './words';

/** Page that fills the screen. */
export type Page = { at: 'all' } | { at: 'add' } | { at: 'import' };
/** Tabs of a server or service. */
export type Side = 'tools' | 'log' | 'setup';
/** A server or a service. */
export type ToolSource = { settings: { id: string; enabled: boolean }; tools: readonly unknown[] };
/** Change that each kind of source has. */
type SourceChange = { type: 'switch'; enabled: boolean } | { type: 'remove' };

/** Store of secrets, which also announces a change. */
export type SecretStore = Pick<SourceStore, 'secret' | 'tell'>;

/** How long an answer stays fresh, in milliseconds: no event tells that a server changed, so it is asked again. */
const FRESH_MS = 1_900;

/** Sources of tools, each with its name, and a person's acts on them. */
export abstract class SourceStore<V extends ToolSource = ToolSource, C = unknown> {
  all: readonly V[] = $state.raw([]);
  /** Why the sources cannot be used or listed. */
  fault: UserError | null = $state.raw(null);
  loaded = $state(false);
  page: Page = $state.raw({ at: 'all' });
  side: Side = $state('tools');
  /** The name of the last selected source. */
  #picked = $state('');
  #doing: ReadonlyMap<string, Doing> = $state.raw(new Map());
  #troubles: ReadonlyMap<string, UserError> = $state.raw(new Map());
  #askedAt = -FRESH_MS;
  #asking: Promise<void> | null = null;
  protected readonly desk: Desk;

  constructor(desk: Desk) {
    this.desk = desk;
  }

  /** Asks for all sources. */
  protected abstract ask(): Promise<{ all: readonly V[]; fault: UserError | null }>;
  /** Returns the op that changes one source. */
  protected abstract op(id: string, change: C | SourceChange): Op;

  /** The selected source. */
  get one(): V | undefined {
    return this.all.find((one) => one.settings.id === this.#picked) ?? this.all[0];
  }
  get ids(): string[] {
    return this.all.map((one) => one.settings.id);
  }
  pick(id: string): void {
    this.#picked = id;
  }
  go(page: Page): void {
    this.page = page;
  }
  /** Returns the act under way on one source; none if there is none. */
  doing(id: string): Doing | undefined {
    return this.#doing.get(id);
  }
  /** Returns why the last act on one source was refused. */
  trouble(id: string): UserError | undefined {
    return this.#troubles.get(id);
  }
  /** Dismisses that refusal. */
  settle(id: string): void {
    this.#troubles = new Map([...this.#troubles].filter(([other]) => other !== id));
  }

  /** Asks for the sources again if the last answer is no longer fresh. */
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
      const { all, fault } = await this.ask();
      const before = new Map(this.all.map((one) => [one.settings.id, one]));
      // One that is as it was stays the same object: nothing of it is drawn anew.
      this.all = all.map((one) => {
        const known = before.get(one.settings.id);
        return known && JSON.stringify(known) === JSON.stringify(one) ? known : one;
      });
      this.fault = fault;
    } catch (thrown) {
      this.fault = faultOf(thrown);
    }
    this.loaded = true;
  }

  /** Changes one; false if that was refused, which then stands beside it. */
  async change(id: string, change: C | SourceChange, doing: Doing): Promise<boolean> {
    if (this.#doing.has(id)) return false;
    this.settle(id);
    this.#doing = new Map([...this.#doing, [id, doing]]);
    const fault = await this.desk.attempt(this.op(id, change));
    // An answer that was asked for before the change tells of the time before the change.
    await this.#asking;
    await this.load();
    this.#doing = new Map([...this.#doing].filter(([other]) => other !== id));
    if (fault) this.#troubles = new Map([...this.#troubles, [id, fault]]);
    return fault === null;
  }
  /** Puts a secret into the keychain, or removes it with an empty one; returns why that failed, empty if it did not. */
  async secret(name: string, key: string): Promise<string> {
    const fault = await this.desk.attempt({ type: 'set_key', provider: `mcp:${name}`, key });
    return fault ? `${fault.message} ${fault.hint}`.trim() : '';
  }
  tell(title: string, text?: string): void {
    this.desk.toasts.add({ icon: 'check', ink: 'plain', title, text, brief: true });
    this.desk.announced = `${title}.`;
  }
}

/** Servers of tools (MCP). */
export class ServerStore extends SourceStore<ServerView, ServerChange> {
  protected async ask() {
    const { servers, fault } = await this.desk.query({ type: 'servers' });
    return { all: servers, fault };
  }
  protected op(server: string, change: ServerChange): Op {
    return { type: 'change_server', server, change };
  }
}

/** Services by their documents (OpenAPI). */
export class ServiceStore extends SourceStore<ApiView, ApiChange> {
  protected async ask() {
    const { apis, fault } = await this.desk.query({ type: 'apis' });
    return { all: apis, fault };
  }
  protected op(api: string, change: ApiChange): Op {
    return { type: 'change_api', api, change };
  }
}

/** Both stores of a desk, and the kind that is open. */
class SourceStores {
  kind: 'servers' | 'apis' = $state('servers');
  readonly servers: ServerStore;
  readonly apis: ServiceStore;

  constructor(desk: Desk) {
    this.servers = new ServerStore(desk);
    this.apis = new ServiceStore(desk);
  }
  /** Opens a page of one kind. */
  go(kind: SourceStores['kind'], page: Page): void {
    this.kind = kind;
    this[kind].go(page);
  }
}

const stores = new WeakMap<Desk, SourceStores>();

/** The stores of a desk: the same, whatever shows them. */
export function sourceStores(desk: Desk): SourceStores {
  const both = stores.get(desk) ?? new SourceStores(desk);
  stores.set(desk, both);
  return both;
}
