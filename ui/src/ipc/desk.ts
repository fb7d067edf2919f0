// The one door to the engine: its four commands, the connections of agents, the dialogs for folders and exports, the browser, and
// updates of the app. No other file imports @tauri-apps.

import { Channel, invoke } from '@tauri-apps/api/core';
import { getCurrentWebview } from '@tauri-apps/api/webview';
import type {
  Answer,
  ConnectionAction,
  ConnectionPlan,
  ConnectionView,
  EngineView,
  Event,
  Op,
  OpReceipt,
  Query,
  SessionImport,
  UpdateStep,
  UpdateView,
  UserError,
} from './bindings';

/** The answer that belongs to a query. */
export type AnswerTo<Q extends Query> = Extract<
  Answer,
  {
    type: Q['type'] extends 'transcript_from'
      ? 'transcript'
      : Q['type'] extends 'check_tool'
        ? 'check_arguments'
        : Q['type'];
  }
>;

/** Host that the interface runs on. Every promise may be rejected with a [`Refused`]. */
export interface Host {
  /** Submits an op to the engine; its results are told by events. */
  submit(op: Op): Promise<OpReceipt>;
  /** Returns everything at once, and the position to subscribe from. */
  snapshot(): Promise<EngineView>;
  /** Asks the engine a question that changes nothing. */
  query<Q extends Query>(query: Q): Promise<AnswerTo<Q>>;
  /** Every event after `since`, in order, without gaps, in batches. */
  subscribe(since: number, onEvents: (events: Event[]) => void): Promise<void>;
  /** Lets the person choose a folder, or a file; none if they chose none. */
  pickFolder(from?: string, file?: boolean): Promise<string | null>;
  /** Opens an address of the web in the browser: only after the person saw its host and said yes. */
  openAddress(address: string): Promise<void>;
  /** Shows a file of a workspace in the file manager. */
  showInFolder(workspace: string, path: string): Promise<void>;
  /** Draws the page larger or smaller than usual, by a factor. */
  setZoom(factor: number): Promise<void>;
  /** Lists the agents that can be connected, as they are on this machine. */
  listConnections(): Promise<ConnectionView[]>;
  /** Plans a change of an agent's configuration; none if there is nothing to change. */
  planConnection(agent: string, action: ConnectionAction): Promise<ConnectionPlan | null>;
  /** Makes the change that was shown with this digest. */
  changeConnection(agent: string, action: ConnectionAction, shown: string): Promise<void>;
  /** Imports the sessions of an agent that went on in the last week; its events are told as all others. */
  importSessions(agent: string): Promise<SessionImport>;
  /**
   * Calls `show` with each session or call that was chosen outside the window, in the tray or by a link, until the returned
   * act ends that. What was chosen last before is shown at once.
   */
  onShowTarget(show: (target: ShowTarget) => void): () => void;
  /** Exports a session into a file that the person chooses; gives its path, none if they chose none. */
  exportSession(session: string, format: ExportFormat): Promise<string | null>;
  /** Tells what is known of a newer version of the app, now and whenever that changes. */
  watchUpdates(onView: (view: UpdateView) => void): Promise<void>;
  /** Takes a step to a newer version. */
  updateApp(step: UpdateStep): Promise<void>;
}

/** A session that was chosen outside the window, or a call of it. */
export interface ShowTarget {
  session: string;
  call: string | null;
}

/** A format that a session is exported to a file in. */
export type ExportFormat = 'md' | 'jsonl' | 'html';

/** The engine said no: a sentence and the next step. */
export class Refused extends Error {
  constructor(readonly fault: UserError) {
    super(fault.message);
  }
}

/** Returns a thrown value as a person can read it. */
export function faultOf(thrown: unknown): UserError {
  if (thrown instanceof Refused) return thrown.fault;
  if (isFault(thrown)) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { message, hint: '', context: [] };
}

function isFault(value: unknown): value is UserError {
  return typeof value === 'object' && value !== null && 'message' in value && 'hint' in value && 'context' in value;
}

/** Hears what was chosen outside the window. It may be chosen before anything can show it. */
class ChosenTargets {
  #show: ((target: ShowTarget) => void) | null = null;
  #pending: ShowTarget | null = null;

  constructor() {
    window.addEventListener('show-target', (event) => this.#choose((event as CustomEvent<ShowTarget>).detail));
  }

  listen(show: (target: ShowTarget) => void): () => void {
    this.#show = show;
    const pending = this.#pending;
    this.#pending = null;
    if (pending) show(pending);
    return () => (this.#show = null);
  }

  #choose(target: ShowTarget): void {
    if (this.#show) this.#show(target);
    else this.#pending = target;
  }
}

/** The host of a Tauri window. */
function windowHost(): Host {
  async function ask<T>(command: string, args?: Record<string, unknown>): Promise<T> {
    try {
      return await invoke<T>(command, args);
    } catch (thrown) {
      throw new Refused(faultOf(thrown));
    }
  }

  const targets = new ChosenTargets();
  return {
    submit: (op) => ask('submit', { op }),
    snapshot: () => ask('snapshot'),
    query: (query) => ask('query', { query }),
    subscribe: async (since, onEvents) => {
      const channel = new Channel<Event[]>();
      channel.onmessage = onEvents;
      await ask('subscribe', { since, channel });
    },
    setZoom: (factor) => getCurrentWebview().setZoom(factor),
    openAddress: (address) => ask('open_address', { address }),
    showInFolder: (workspace, path) => ask('show_in_folder', { workspace, path }),
    listConnections: () => ask('list_connections'),
    planConnection: (agent, action) => ask('plan_connection', { agent, action }),
    changeConnection: (agent, action, shown) => ask('change_connection', { agent, action, shown }),
    importSessions: (agent) => ask('import_sessions', { agent }),
    onShowTarget: (show) => targets.listen(show),
    exportSession: (session, format) => ask('export_session', { session, format }),
    watchUpdates: async (onView) => {
      const channel = new Channel<UpdateView>();
      channel.onmessage = onView;
      await ask('watch_updates', { channel });
    },
    updateApp: (step) => ask('update_app', { step }),
    pickFolder: async (from, file = false) =>
      (await import('@tauri-apps/plugin-dialog')).open({
        directory: !file,
        defaultPath: from,
        title: file ? 'Choose a file' : 'Choose a folder',
      }),
  };
}

/** The host of this page: the window's engine, or, while developing, a recorded one (`?fake=demo`). */
export async function openHost(): Promise<Host> {
  if (import.meta.env.DEV || import.meta.env.VITE_FAKE) {
    const fake = new URLSearchParams(location.search).get('fake');
    if (fake) return (await import('./fake')).openFake(fake);
  }
  return windowHost();
}
