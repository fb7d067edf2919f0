// A host that keeps what it is asked for and answers from samples: for the gallery page and the tests of the card.

import type { Answer, Event, Op, Query, Settings, ToolView } from '../ipc/bindings';
import { account } from '../ipc/fake_account';
import { FakeRules } from '../ipc/fake_rules';
import { emptySnapshot } from '../ipc/fake_settings';
import type { AnswerTo, Host } from '../ipc/desk';
import type { CallEntry } from '../state/fold';
import { asksTrail, DIGEST, NOW, SESSION } from './sample_calls';
import { parser } from './sample_diffs';

/** Lines of a file that is as long as it is asked for, up to 420. */
function fileLines(start: number, count: number): Extract<Answer, { type: 'lines' }>['lines'] {
  const rest = Math.max(0, Math.min(count, 421 - start));
  return Array.from({ length: rest }, (_, i) => [
    { text: `// line ${start + i} of the file as it is`, control: false },
  ]);
}

const events: Event[] = [
  {
    seq: 11,
    session: SESSION,
    at: NOW - 44_000,
    body: {
      type: 'call_proposed',
      call: { id: 'c', name: 'edit', arguments: {} },
      message: 'msg_1',
      reasoning: 'I give it its own level.',
    },
  },
  {
    seq: 12,
    session: SESSION,
    at: NOW - 43_900,
    body: {
      type: 'call_judged',
      call: 'c',
      tool: 'edit',
      title: 'Edit',
      target: parser.path,
      mode: 'safe_write',
      kind: 'edit',
      trail: asksTrail,
      preview: { type: 'nothing' },
      undo: { type: 'secured' },
    },
  },
  {
    seq: 13,
    session: SESSION,
    at: NOW - 42_000,
    body: { type: 'call_waiting', call: 'c', digest: DIGEST, grants: [], refreshed: null, expires_at: null },
  },
];

export class SampleHost implements Host {
  /** Everything that was asked for, in order. */
  readonly ops: Op[] = [];
  readonly queries: Query[] = [];
  /** Whether the next ops are refused. */
  refuses = false;
  conflicts: string[] = [];
  problems: string[] = [];
  /** The registered tools. */
  tools: readonly ToolView[] = [];
  readonly rules = new FakeRules(() => NOW);
  #settings = emptySnapshot().settings;
  readonly #desk: readonly CallEntry[];

  constructor(desk: readonly CallEntry[] = []) {
    this.#desk = desk;
  }
  /** Has other settings from the beginning. */
  change(changes: Partial<Settings>): void {
    this.#settings = { ...this.#settings, ...changes };
  }
  submit(op: Op): Promise<{ session: null }> {
    this.ops.push(op);
    if (op.type === 'set_settings') this.#settings = op.settings;
    return this.refuses ? Promise.reject(new Error('Refused.')) : Promise.resolve({ session: null });
  }
  snapshot() {
    return Promise.resolve({ ...emptySnapshot(), settings: this.#settings, desk: [...this.#desk] });
  }
  query<Q extends Query>(query: Q): Promise<AnswerTo<Q>> {
    this.queries.push(query);
    return Promise.resolve(this.#answer(query) as AnswerTo<Q>);
  }
  setZoom(): Promise<void> {
    return Promise.resolve();
  }
  subscribe(): Promise<void> {
    return Promise.resolve();
  }
  pickFolder(): Promise<null> {
    return Promise.resolve(null);
  }
  showInFolder(): Promise<void> {
    return Promise.resolve();
  }
  openAddress(): Promise<void> {
    return Promise.resolve();
  }
  listConnections(): Promise<never[]> {
    return Promise.resolve([]);
  }
  planConnection(): Promise<null> {
    return Promise.resolve(null);
  }
  changeConnection(): Promise<void> {
    return Promise.resolve();
  }
  onShowTarget(): () => void {
    return () => undefined;
  }
  exportSession(): Promise<null> {
    return Promise.resolve(null);
  }
  watchUpdates(): Promise<void> {
    return Promise.resolve();
  }
  updateApp(): Promise<never> {
    return Promise.reject(new Error('The gallery is not updated.'));
  }
  importSessions(): Promise<never> {
    return Promise.reject(new Error('The gallery imports nothing.'));
  }

  #answer(query: Query): Answer {
    const ruled = this.rules.answer(query);
    if (ruled) return ruled;
    switch (query.type) {
      case 'lines':
        return { type: 'lines', lines: fileLines(query.start, query.count) };
      case 'check_arguments':
      case 'check_tool':
        return { type: 'check_arguments', problems: this.problems };
      case 'undo_check':
        return { type: 'undo_check', id: query.entry, conflicts: this.conflicts };
      case 'call_events':
        return { type: 'call_events', events };
      case 'account': {
        const entry = this.#desk.find((one) => one.session === query.session && one.id === query.call);
        if (entry) return account(entry.body);
        throw new Error(`There is no call ${query.call}.`);
      }
      case 'output':
        return {
          type: 'output',
          text: query.offset === 0 ? 'the whole output\n' : 'and its end\n',
          bytes: 29,
          next: query.offset === 0 ? 17 : null,
        };
      case 'transcript':
      case 'transcript_from':
        return { type: 'transcript', entries: [], more: false, seq: 0 };
      case 'failed_call':
        return { type: 'failed_call', entry: null };
      case 'history':
        return { type: 'history', entries: [], more: false };
      case 'search':
        return { type: 'search', hits: [], total: 0, searched: 0, took_us: 0, problem: null, facets: [] };
      case 'models':
        return { type: 'models', models: [] };
      case 'tools':
        return { type: 'tools', tools: [...this.tools] };
      case 'servers':
        return { type: 'servers', servers: [], fault: null };
      case 'export':
        return { type: 'export', text: '' };
      default:
        throw new Error(`Nobody answers ${query.type}.`);
    }
  }
}
