// An engine made of a recorded stream: for tests, and for the interface in a plain browser (?fake=demo|empty|keyless|large|stream|reach|transcript).

import { beginEntry, changeEntry, entryId, isCall, sessionAfter, type CallEntry } from '../state/fold';
import type {
  AgentOption,
  Answer,
  AssuranceReport as Promised,
  ConnectionAction,
  ConnectionPlan,
  ConnectionView,
  Content,
  EngineView,
  Entry,
  Event,
  EventBody,
  ImageSupport,
  Op,
  OpReceipt,
  Outcome,
  Query,
  RestoreReceipt,
  RuleSuggestion,
  SessionImport,
  SessionView,
  SkippedAsk,
  UndoEntry,
  UpdateStep,
  UpdateView,
} from './bindings';
import { Refused, type AnswerTo, type ExportFormat, type Host, type ShowTarget } from './desk';
import { account } from './fake_account';
import { searchEntries } from './fake_search';
import {
  editorViews,
  emptySnapshot,
  firstStart,
  languageViews,
  promised,
  searchProviderViews,
  withoutKeychain,
} from './fake_settings';
import { quietDay } from './fake_attention';
import { briefed, briefingText } from './fake_briefing';
import { modelChange, modelOptions } from './fake_models';
import { FakeApis } from './fake_apis';
import { FakeConnections } from './fake_connections';
import { deletedSessions, previewDeletion } from './fake_deletions';
import { answerFromEntries } from './fake_entries';
import { namesWith, pathsOf, type FakeFile } from './fake_files';
import { FakeHistory } from './fake_history';
import { FakeRules } from './fake_rules';
import { FakeServers } from './fake_servers';
import { largeStream, parseStream, untilNow } from './fake_streams';
import { asSet, fakeTools, missing, tryOf } from './fake_tools';
import { FakeUpdates } from './fake_updates';

/** A host that plays a stream to its end at once and then answers as an engine would. */
export class FakeHost implements Host {
  readonly events: Event[] = [];
  readonly ops: Op[] = [];
  readonly #asked: Query[] = [];
  #entries = new Map<string, Entry[]>();
  #sessions = new Map<string, SessionView>();
  #listeners: ((events: Event[]) => void)[] = [];
  #snapshot = emptySnapshot();
  #showTarget: ((target: ShowTarget) => void) | null = null;
  /** Folder that the folder dialog returns. */
  picked: string | null = '/home/mira/code/site';
  /** The addresses that were opened in the browser, and the files that were opened or shown. */
  readonly opened: string[] = [];
  /** The sessions that were exported, each with its format. */
  readonly exported: [string, ExportFormat][] = [];
  /** File that the person chooses for an export. */
  exportFile: string | null = '/home/mira/session.md';
  /** Ids that have a key in the keychain. */
  readonly kept = new Set<string>();
  /** The registered tools. */
  tools = fakeTools;
  briefing = briefed;
  /** The rule that is offered after an answer. */
  ruleOffer: RuleSuggestion | null = null;
  /** What attention was spent on. */
  attention = quietDay;
  /** Models of OpenAI that a session can have, all of which take an effort. */
  models: readonly string[] = [];
  /** Calls that passed while asks are skipped. */
  passed: SkippedAsk[] = [];
  /** How large the window draws its page. */
  zoom = 1;
  /** Files of every folder. */
  files: FakeFile[] = [];
  /** What becomes of images in a message. */
  imageSupport: ImageSupport = 'shown';
  /** Assurances that the machine can give. */
  promise: Promised = promised;
  now: () => number = Date.now;
  readonly rules = new FakeRules(() => this.now());
  readonly servers = new FakeServers(() => this.now());
  readonly apis = new FakeApis();
  readonly connections = new FakeConnections();
  readonly history = new FakeHistory(() => this.now());
  readonly updates = new FakeUpdates();

  constructor(events: readonly Event[] = [], settings: Partial<EngineView> = {}) {
    this.#snapshot = { ...this.#snapshot, ...settings };
    for (const event of events) this.#record(event);
  }

  /** Something happens. */
  emit(session: string, ...bodies: EventBody[]): void {
    const events = bodies.map((body, i): Event => ({ seq: this.events.length + 1 + i, session, at: this.now(), body }));
    for (const event of events) this.#record(event);
    for (const listener of this.#listeners) listener(events);
  }

  snapshot(): Promise<EngineView> {
    const desk = this.#all().filter((entry) => isCall(entry) && entry.body.state === 'waiting');
    const sessions = [...this.#sessions.values()].sort((one, other) => other.changed_at - one.changed_at);
    return Promise.resolve({ ...this.#snapshot, seq: this.events.length, sessions, desk });
  }

  subscribe(since: number, onEvents: (events: Event[]) => void): Promise<void> {
    const backlog = this.events.filter((event) => event.seq > since);
    if (backlog.length > 0) onEvents(backlog);
    this.#listeners.push(onEvents);
    return Promise.resolve();
  }

  setZoom(factor: number): Promise<void> {
    this.zoom = factor;
    return Promise.resolve();
  }

  pickFolder(): Promise<string | null> {
    return Promise.resolve(this.picked);
  }

  showInFolder(workspace: string, path: string): Promise<void> {
    this.opened.push(`${workspace}/${path}`);
    return Promise.resolve();
  }

  openAddress(address: string): Promise<void> {
    this.opened.push(address);
    return Promise.resolve();
  }

  watchUpdates(onView: (view: UpdateView) => void): Promise<void> {
    return this.updates.watch(onView);
  }

  updateApp(step: UpdateStep): Promise<void> {
    return this.updates.take(step);
  }

  listConnections(): Promise<ConnectionView[]> {
    return this.connections.list();
  }

  planConnection(agent: string, action: ConnectionAction): Promise<ConnectionPlan | null> {
    return this.connections.plan(agent, action);
  }

  changeConnection(agent: string, action: ConnectionAction, shown: string): Promise<void> {
    return this.connections.change(agent, action, shown);
  }

  importSessions(agent: string): Promise<SessionImport> {
    return this.connections.importSessions(agent);
  }

  onShowTarget(show: (target: ShowTarget) => void): () => void {
    this.#showTarget = show;
    return () => (this.#showTarget = null);
  }
  /** The person chooses a call in the tray, or follows a link; false if nobody listens. */
  chooseOutside(session: string, call: string | null): boolean {
    this.#showTarget?.({ session, call });
    return this.#showTarget !== null;
  }

  exportSession(session: string, format: ExportFormat): Promise<string | null> {
    this.exported.push([session, format]);
    return Promise.resolve(this.exportFile);
  }

  submit(op: Op): Promise<OpReceipt> {
    this.ops.push(op);
    try {
      if (op.type === 'restore') return Promise.resolve({ session: null, restored: this.#restore(op) });
      if (op.type === 'collect_history')
        return Promise.resolve({ session: null, collected: this.history.collect(this.#undos()) });
      return Promise.resolve({ session: this.#carryOut(op) });
    } catch (thrown) {
      return Promise.reject(thrown as Error);
    }
  }

  /** The questions of one kind that were asked, in order. */
  queries<T extends Query['type']>(type: T): Query[] {
    return this.#asked.filter((query) => query.type === type);
  }

  query<Q extends Query>(query: Q): Promise<AnswerTo<Q>> {
    this.#asked.push(query);
    try {
      return Promise.resolve(this.#answer(query) as AnswerTo<Q>);
    } catch (thrown) {
      return Promise.reject(thrown as Error);
    }
  }

  #carryOut(op: Exclude<Op, { type: 'restore' | 'collect_history' }>): string | null {
    switch (op.type) {
      case 'open_session':
      case 'play_demo': {
        const session = `ses_new_${this.#sessions.size + 1}`;
        const title = op.type === 'play_demo' ? 'The demo' : (op.prompt?.split('\n')[0] ?? 'New session');
        const workspace = op.type === 'play_demo' ? '/home/mira/countersign-demo' : op.workspace;
        const model = op.type === 'play_demo' ? { provider: 'demo', model: '' } : op.model;
        this.emit(session, { type: 'session_opened', title, workspace, model });
        if (op.type === 'open_session' && op.prompt) this.#say(session, op.prompt, false);
        return session;
      }
      case 'say':
        this.#say(op.session, op.text, this.#sessions.get(op.session)?.state === 'running', op.images);
        return null;
      case 'interrupt':
        this.emit(op.session, { type: 'session_changed', state: 'interrupted' });
        return null;
      case 'resume':
        this.emit(op.session, { type: 'session_changed', state: 'running' });
        return null;
      case 'set_planning':
        this.emit(op.session, { type: 'planning_set', on: op.on, by: 'person' });
        return null;
      case 'skip_asks': {
        const until = op.minutes === null ? null : this.now() + op.minutes * 60_000;
        for (const session of this.#skipping(op.session)) this.emit(session, { type: 'asks_skipped', until });
        return null;
      }
      case 'resume_asks':
        for (const session of this.#skipping(op.session)) this.emit(session, { type: 'asks_resumed', cause: 'person' });
        return null;
      case 'set_agent_option': {
        const session = this.#sessions.get(op.session);
        if (session && session.model.provider !== 'agent') {
          this.emit(op.session, modelChange(session, op.option, op.value));
          return null;
        }
        const options = this.#agentOptions(op.session).map((one) =>
          one.id === op.option ? { ...one, value: op.value, is_chosen: true } : one,
        );
        this.emit(op.session, { type: 'agent_options_changed', options });
        return null;
      }
      case 'decide_group':
        for (const shown of op.calls) this.#decide({ type: 'decide', ...shown, decision: op.decision });
        return null;
      case 'decide':
        this.#decide(op);
        return null;
      case 'answer_server':
        this.emit(
          op.session,
          { type: 'server_request_answered', call: op.call, request_id: op.request_id, answer: op.answer, why: null },
          { type: 'session_changed', state: 'running' },
        );
        return null;
      case 'undo':
      case 'redo':
        this.#takeBack(op);
        return null;
      case 'rename_session':
        this.emit(op.session, { type: 'session_renamed', title: op.title });
        return null;
      case 'place_session':
        this.emit(op.session, { type: 'session_placed', place: op.place });
        return null;
      case 'fork_session': {
        const fork = `ses_new_${this.#sessions.size + 1}`;
        const source = this.#sessions.get(op.session);
        if (!source) throw new Error(`There is no session ${op.session}.`);
        const { title, workspace, model } = source;
        this.emit(fork, { type: 'session_opened', title: `Fork of ${title}`, workspace, model });
        return fork;
      }
      case 'delete_session':
        this.emit(op.session, { type: 'session_deleted', host: op.host, calls: this.#callsOf(op.session).length });
        return null;
      case 'close_session':
        // The effects of closing a session are not in the stream.
        return null;
      case 'open_in_editor':
        this.opened.push(`${op.workspace}/${op.path}:${op.line ?? 1}`);
        return null;
      case 'trust_rules':
      case 'distrust_rules':
      case 'revoke_grant':
      case 'save_rules':
      case 'add_rules':
      case 'change_rule':
        this.rules.carryOut(op);
        return null;
      case 'set_settings':
        this.#snapshot = { ...this.#snapshot, settings: op.settings };
        return null;
      case 'set_tool': {
        const { settings } = this.#snapshot;
        const tools = { ...settings.tools, [op.tool]: { enabled: op.enabled, mode: op.mode } };
        this.#snapshot = { ...this.#snapshot, settings: { ...settings, tools } };
        return null;
      }
      case 'try_tool': {
        const session = `ses_try_${this.#sessions.size + 1}`;
        const tool = this.tools.find((one) => one.record.identity.tool_id === op.tool);
        if (tool) this.emit(session, ...tryOf(tool, op.workspace, op.arguments));
        return session;
      }
      case 'change_api':
        this.apis.carryOut(op);
        return null;
      case 'change_server':
        this.servers.carryOut(op);
        return null;
      case 'set_key': {
        const ready = op.key !== '';
        this.kept[ready ? 'add' : 'delete'](op.provider);
        const providers = this.#snapshot.providers.map((provider) =>
          provider.id === op.provider
            ? { ...provider, ready, note: ready ? 'key from the keychain' : 'No key. Enter one below.' }
            : provider,
        );
        this.#snapshot = { ...this.#snapshot, providers };
        return null;
      }
    }
  }

  #say(session: string, text: string, steering: boolean, images?: Content[]): void {
    const message = `msg_new_${this.events.length}`;
    this.emit(
      session,
      { type: 'person_said', message, text, ...(images && { images }), steering },
      { type: 'session_changed', state: 'running' },
    );
  }

  #decide(op: Extract<Op, { type: 'decide' }>): void {
    const { session, call, digest, decision } = op;
    const waiting = this.#find(session, call);
    if (!waiting || !isCall(waiting) || waiting.body.pending?.digest !== digest) {
      throw new Refused({
        message: 'This card changed since you looked.',
        hint: 'Look again, then decide.',
        context: [],
      });
    }
    this.emit(session, { type: 'call_decided', call, digest, decision });
    if (decision.type === 'dry_run' || decision.type === 'with_network') {
      this.emit(session, { type: 'call_started', call });
      return;
    }
    if (decision.type === 'edit') {
      this.emit(session, { type: 'call_edited', call, arguments: decision.arguments });
      return;
    }
    const said = decision.type === 'reject' || decision.type === 'skip';
    const outcome: Outcome = {
      state: said ? 'rejected' : 'done',
      text: said ? 'The person rejected this call.' : 'Done.',
      message: said ? '' : 'as shown',
      duration_ms: said ? 0 : 6,
      needs_followup: said,
      terminal: false,
      digest,
    };
    if (!said) this.emit(session, { type: 'call_started', call });
    const stop = decision.type === 'reject' && decision.stop;
    const state = stop ? 'interrupted' : 'running';
    this.emit(session, { type: 'call_ended', call, outcome }, { type: 'session_changed', state });
  }

  #takeBack(op: Extract<Op, { type: 'undo' | 'redo' }>): void {
    const conflicts = this.history.conflicts[op.entry];
    if (conflicts) {
      const message = `${conflicts.join(', ')} changed since.`;
      throw new Refused({ message, hint: 'Nothing was touched.', context: [] });
    }
    const call = this.#all()
      .filter(isCall)
      .find((entry) => entry.body.undo?.id === op.entry);
    if (!call?.body.undo) return;
    const type = op.type === 'undo' ? 'undo_applied' : 'redo_applied';
    this.emit(call.session, { type, entry: op.entry, call: call.id, paths: call.body.undo.paths });
  }

  /** The entries of calls, each as it stands. */
  #undos(): UndoEntry[] {
    return this.#all()
      .filter(isCall)
      .flatMap((entry) => entry.body.undo ?? []);
  }

  #restore(op: Extract<Op, { type: 'restore' }>): RestoreReceipt {
    const { receipt, preview } = this.history.carryOut(this.#undos(), op.restore, op.choices ?? []);
    const back = new Set(preview.entries.flatMap((entry) => entry.action?.of ?? []));
    for (const { id } of preview.entries) this.#takeBack({ type: preview.direction, entry: id });
    // Undoing an undo restores the calls that it took back.
    for (const id of back) this.#takeBack({ type: 'redo', entry: id });
    return receipt;
  }

  #answer(query: Query): Answer {
    switch (query.type) {
      case 'rule_offer':
        return { type: 'rule_offer', offer: this.ruleOffer };
      case 'attention':
        return { type: 'attention', ...this.attention };
      case 'briefing':
        return { type: 'briefing', ...this.briefing };
      case 'briefing_text':
        return { type: 'briefing_text', ...briefingText(this.briefing, query.of) };
      case 'transcript':
      case 'transcript_from':
      case 'failed_call':
        return answerFromEntries(this.#entries.get(query.session) ?? [], this.events.length, query);
      case 'search':
        return { type: 'search', ...searchEntries(this.#all(), this.#sessions, query) };
      case 'history': {
        const { entries, more } = this.history.timeline(this.#undos(), null, query.offset, query.limit);
        return { type: 'history', entries, more };
      }
      case 'timeline':
        return {
          type: 'timeline',
          ...this.history.timeline(this.#undos(), query.workspace, query.offset, query.limit),
        };
      case 'restore':
        return { type: 'restore', ...this.history.preview(this.#undos(), query.restore) };
      case 'restore_receipt':
        return { type: 'restore_receipt', ...this.history.receipt(query.entry) };
      case 'undo_check':
        return { type: 'undo_check', id: query.entry, conflicts: this.history.conflicts[query.entry] ?? [] };
      case 'call_events': {
        const about = (event: Event) => event.session === query.session && entryId(event) === query.call;
        return { type: 'call_events', events: this.events.filter(about) };
      }
      case 'promise':
        return { type: 'promise', ...this.promise };
      case 'account': {
        const entry = this.#find(query.session, query.call);
        if (entry && isCall(entry)) return account(entry.body);
        throw new Refused({ message: 'There is no such call in this session.', hint: '', context: [] });
      }
      case 'lines': {
        const line = (n: number) => [{ text: `line ${query.start + n} of ${query.path}`, control: false }];
        return { type: 'lines', lines: Array.from({ length: Math.min(query.count, 20) }, (_, n) => line(n)) };
      }
      case 'output': {
        const entry = this.#find(query.session, query.call);
        const text = entry && isCall(entry) ? (entry.body.outcome?.text ?? '') : '';
        return { type: 'output', text: text.slice(query.offset), bytes: text.length, next: null };
      }
      case 'project_rules':
      case 'rules':
      case 'offers':
      case 'backtest':
      case 'evaluate_call':
      case 'check_rules':
      case 'check_rule':
      case 'compare_rules':
      case 'suggestions':
      case 'imports': {
        const answer = this.rules.answer(query);
        if (answer) return answer;
        throw new Refused({ message: 'Nobody answers that.', hint: '', context: [] });
      }
      case 'editors':
        return { type: 'editors', editors: editorViews };
      case 'search_providers':
        return { type: 'search_providers', providers: searchProviderViews(this.#snapshot.settings, this.kept) };
      case 'apis':
        return this.apis.answer();
      case 'language_servers':
        return { type: 'language_servers', servers: languageViews(this.#snapshot.settings.language_servers) };
      case 'servers':
      case 'server_log':
      case 'server_resources':
      case 'discover_servers':
        return this.servers.answer(query);
      case 'check_arguments':
        return { type: 'check_arguments', problems: [] };
      case 'check_tool':
        return { type: 'check_arguments', problems: missing(this.tools, query.tool, query.arguments) };
      case 'models': {
        const provider = this.#snapshot.providers.find((one) => one.id === query.provider);
        return { type: 'models', models: provider?.models ?? [] };
      }
      case 'tools':
        return { type: 'tools', tools: asSet(this.tools, this.#snapshot.settings.tools) };
      case 'image_support':
        return { type: 'image_support', support: this.imageSupport };
      case 'file_names':
        return { type: 'file_names', paths: namesWith(this.files, query.text, query.limit) };
      case 'dropped_file':
        return { type: 'dropped_file', paths: pathsOf(this.files, query.file) };
      case 'deletion_preview': {
        const children = [...this.#sessions.values()].filter(({ parent }) => parent?.session === query.session);
        return { type: 'deletion_preview', ...previewDeletion(this.#callsOf(query.session), children.length) };
      }
      case 'deleted_sessions':
        return { type: 'deleted_sessions', sessions: deletedSessions(this.events) };
      case 'export':
        return { type: 'export', text: '' };
      case 'skipped_asks':
        return { type: 'skipped_asks', calls: this.passed, total: this.passed.length };
      case 'agent_options':
        return { type: 'agent_options', options: this.#optionsOf(query.session) };
    }
  }

  /** The sessions that an op on asks is about: one, or every one that works. */
  #skipping(session: string | null): string[] {
    const working = [...this.#sessions.values()].filter(({ state, parent }) => state === 'running' && !parent);
    return session === null ? working.map(({ id }) => id) : [session];
  }

  /** What whoever answers in a session lets a person choose. */
  #optionsOf(id: string): AgentOption[] {
    const session = this.#sessions.get(id);
    return session && session.model.provider !== 'agent' ? modelOptions(session, this.models) : this.#agentOptions(id);
  }

  /** The options that a session's agent offered last. */
  #agentOptions(session: string): AgentOption[] {
    const bodies = this.events.flatMap((event) => (event.session === session ? [event.body] : []));
    return bodies.findLast((body) => body.type === 'agent_options_changed')?.options ?? [];
  }

  #record(event: Event): void {
    this.events.push(event);
    const entries = this.#entries.get(event.session) ?? [];
    this.#entries.set(event.session, entries);
    const start = beginEntry(event);
    if (start) {
      entries.push(start);
    } else {
      const at = entries.findLastIndex((entry) => entry.id === entryId(event));
      const before = entries[at];
      if (before) entries[at] = changeEntry(before, event);
    }
    const waiting = entries.filter((entry) => isCall(entry) && entry.body.state === 'waiting').length;
    const session = sessionAfter(this.#sessions.get(event.session), event, waiting);
    if (session) this.#sessions.set(event.session, session);
    if (event.body.type !== 'session_deleted') return;
    this.#sessions.delete(event.session);
    this.#entries.delete(event.session);
  }

  #callsOf(session: string): CallEntry[] {
    return (this.#entries.get(session) ?? []).filter(isCall);
  }

  #find(session: string, id: string): Entry | undefined {
    return this.#entries.get(session)?.find((entry) => entry.id === id);
  }

  #all(): Entry[] {
    return [...this.#entries.values()].flat();
  }
}

/** Lets the agent of a session talk for a while, a few characters at a time. */
function talk(host: FakeHost, session: string, pieces: number): void {
  const message = 'msg_talk';
  host.emit(session, { type: 'session_changed', state: 'running' }, { type: 'turn_started', turn: 9, message });
  let said = 0;
  const timer = setInterval(() => {
    const text = said % 40 === 39 ? 'here.\n\n' : `word ${said} \`code\` `;
    host.emit(session, { type: 'agent_said', message, text, reasoning: false });
    said += 1;
    if (said === pieces) clearInterval(timer);
  }, 4);
}

/** The host for `?fake=NAME`. */
export async function openFake(name: string): Promise<FakeHost> {
  const sample = (await import('../../../tests/golden/sample.jsonl?raw')).default;
  if (name === 'empty') return new FakeHost([], { providers: firstStart() });
  if (name === 'keyless') return new FakeHost([], { providers: withoutKeychain() });
  if (name === 'large') return new FakeHost(largeStream(100_000));
  const host = new FakeHost(untilNow(parseStream(sample), Date.now()));
  host.history.conflicts = { und_0002: ['crates/core/src/lib.rs'] };
  if (name === 'reach') (await import('./fake_reach')).reach(host);
  if (name === 'transcript') (await import('./fake_transcript')).playTranscript(host);
  if (name === 'stream') host.models = ['gpt-5', 'gpt-5-mini', 'gpt-4.1'];
  if (name === 'stream') talk(host, 'ses_0001', 5_000);
  return host;
}
