// From events to entries: the same fold as the engine's (crates/protocol/src/event/fold.rs), held to it by tests/golden.

import type {
  CallId,
  CallView,
  Content,
  Entry,
  EntryBody,
  Event,
  EventBody,
  ListPlace,
  MaskedCall,
  MessageId,
  SessionView,
  ToolCall,
  Usage,
} from '../ipc/bindings';

/** How much live output a folded call keeps, in bytes of UTF-8. */
const OUTPUT_KEPT_BYTES = 64 * 1024;

/** An entry that is a call. */
export type CallEntry = Entry & { body: { type: 'call' } & CallView };

/** Tells whether an entry is a call. */
export function isCall(entry: Entry): entry is CallEntry {
  return entry.body.type === 'call';
}

/** Body of an event about a proposed call. */
type CallEventBody = Extract<EventBody, { call: CallId }>;

/** Body of an event about a message. */
type MessageEventBody = Exclude<Extract<EventBody, { message: MessageId }>, { type: 'call_proposed' }>;

function isAboutCall(body: EventBody): body is CallEventBody {
  return 'call' in body && body.type !== 'call_proposed';
}

function isAboutMessage(body: EventBody): body is MessageEventBody {
  return 'message' in body && body.type !== 'call_proposed';
}

/** The id of the entry that an event begins or changes; none for events about the session as a whole. */
export function entryId({ seq, body }: Event): string | null {
  if (isAboutCall(body)) return body.call;
  if (isAboutMessage(body)) return body.message;
  if (body.type === 'call_proposed') return body.call.id;
  return body.type === 'notice_added' ? `note_${seq}` : null;
}

/** The entry that an event begins; none if it begins none. */
export function beginEntry(event: Event): Entry | null {
  const id = entryId(event);
  const body = begunBody(event.body);
  return id === null || body === null ? null : { id, session: event.session, seq: event.seq, at: event.at, body };
}

function begunBody(body: EventBody): EntryBody | null {
  if (body.type === 'call_proposed') return { type: 'call', ...proposed(body.call, body.reasoning) };
  if (body.type === 'notice_added') return { type: 'notice', ...body.notice };
  return isAboutMessage(body) ? begunMessage(body) : null;
}

function begunMessage(body: MessageEventBody): EntryBody | null {
  switch (body.type) {
    case 'person_said':
      return {
        type: 'person',
        text: body.text,
        ...(body.images?.length ? { images: body.images.length } : {}),
        steering: body.steering,
      };
    case 'sub_agent_finished':
      return { type: 'sub_agent_task', child: body.child, title: body.title, text: body.text, failed: body.failed };
    case 'turn_started':
      return { type: 'agent', turn: body.turn, text: '', reasoning: '', writing: true, usage: null, error: null };
    case 'agent_said':
    case 'answer_checked':
    case 'turn_ended':
      return null;
    default:
      return unknown(body);
  }
}

/** The entry after an event that is about it. */
export function changeEntry(entry: Entry, { body, at }: Event): Entry {
  switch (entry.body.type) {
    case 'person':
    case 'sub_agent_task':
    case 'notice':
      return entry;
    case 'agent':
      return { ...entry, body: messageAfter(entry.body, body) };
    case 'call':
      return isAboutCall(body) ? { ...entry, body: { ...callAfter(entry.body, body, at), type: 'call' } } : entry;
    default:
      return unknown(entry.body);
  }
}

/** Tells whether more events about an entry are to be expected. */
export function isLive(entry: Entry): boolean {
  switch (entry.body.type) {
    case 'person':
    case 'sub_agent_task':
    case 'notice':
      return false;
    case 'agent':
      return entry.body.writing;
    case 'call':
      return entry.body.state === 'proposed' || entry.body.state === 'waiting' || entry.body.state === 'running';
    default:
      return unknown(entry.body);
  }
}

function proposed(call: ToolCall, reasoning: string | null): CallView {
  return {
    call,
    edited: null,
    reasoning,
    tool: call.name,
    title: call.name,
    target: '',
    mode: null,
    kind: 'other',
    state: 'proposed',
    trail: null,
    preview: { type: 'nothing' },
    undo_availability: { type: 'not_needed' },
    pending: null,
    decision: null,
    undo: null,
    undone_at: null,
    output: '',
    progress: null,
    outcome: null,
    started_at: null,
    ended_at: null,
  };
}

type AgentBody = Extract<EntryBody, { type: 'agent' }>;

function messageAfter(message: AgentBody, body: EventBody): AgentBody {
  if (body.type === 'agent_said') {
    return body.reasoning
      ? { ...message, reasoning: message.reasoning + body.text }
      : { ...message, text: message.text + body.text };
  }
  if (body.type === 'answer_checked') {
    const { output, problem } = body;
    return {
      ...message,
      checked: { ...(output !== undefined && { output }), ...(problem !== undefined && { problem }) },
    };
  }
  if (body.type === 'turn_ended') return { ...message, writing: false, usage: body.usage, error: body.error };
  return message;
}

function callAfter(view: CallView, body: CallEventBody, at: number): CallView {
  switch (body.type) {
    case 'call_judged': {
      const { tool, title, target, mode, kind, trail, preview, undo } = body;
      return { ...view, tool, title, target, mode, kind, trail, preview, undo_availability: undo };
    }
    case 'call_imported': {
      const { forked_from, tool, title, target, mode, kind } = body;
      return { ...view, ...(forked_from && { forked_from }), tool, title, target, mode, kind };
    }
    case 'call_waiting': {
      const { digest, grants, refreshed, expires_at } = body;
      const since = view.pending?.since ?? at;
      return { ...view, state: 'waiting', pending: { digest, since, grants, refreshed, expires_at } };
    }
    case 'call_decided':
      return { ...view, decision: { decision: body.decision, at } };
    case 'call_edited':
      return { ...view, edited: body.arguments };
    case 'undo_prepared':
      return { ...view, undo: body.entry };
    case 'call_started':
      return { ...view, state: 'running', pending: null, started_at: at };
    case 'call_output':
      return { ...view, output: keepEnd(view.output + body.text, OUTPUT_KEPT_BYTES) };
    case 'call_update':
      return { ...view, output: keepEnd(view.output + inWords(body.content), OUTPUT_KEPT_BYTES) };
    case 'state_written': {
      const { path, instance } = body;
      return { ...view, stored_at: { path, ...(instance !== undefined && { instance }) } };
    }
    case 'call_progress':
      return { ...view, progress: body.text };
    case 'server_request_received':
    case 'server_request_answered':
    case 'sampling_finished':
      return serverRequestsAfter(view, body, at);
    case 'call_ended':
      return {
        ...masked(view, body.masked),
        state: body.outcome.state,
        progress: null,
        pending: null,
        ended_at: at,
        outcome: body.outcome,
        undo: undoAfterEnd(view, body.outcome.state),
      };
    case 'undo_applied':
      return { ...view, state: 'undone', undone_at: at, undo: view.undo && { ...view.undo, state: 'undone' } };
    case 'redo_applied':
      return {
        ...view,
        state: view.outcome?.state ?? 'done',
        undone_at: null,
        undo: view.undo && { ...view.undo, state: 'applied' },
      };
    case 'hook_answered':
      return view;
    default:
      return unknown(body);
  }
}

/** The call without the secrets of its arguments, once nobody has to decide on it any more. */
function masked(view: CallView, masked: MaskedCall | undefined): CallView {
  if (!masked) return view;
  const { arguments: given, ...parts } = masked;
  return { ...view, ...parts, call: { ...view.call, arguments: given } };
}

type ServerRequestBody = Extract<
  CallEventBody,
  { type: 'server_request_received' | 'server_request_answered' | 'sampling_finished' }
>;

/** A request of a server stands on the desk with its call; its answer counts once, and only while the call goes on. */
function serverRequestsAfter(view: CallView, body: ServerRequestBody, at: number): CallView {
  const requests = view.server_requests ?? [];
  if (body.type === 'server_request_received') {
    const { request_id: id, request, expires_at } = body;
    const received = { id, request, at, expires_at, answered: null };
    return { ...view, state: 'waiting', server_requests: [...requests, received] };
  }
  const isSampled = body.type === 'sampling_finished';
  const place = requests.findIndex((one) => one.id === body.request_id && isSampled === (one.answered !== null));
  const found = requests[place];
  if (!found) return view;
  if (body.type === 'sampling_finished') {
    const answered = found.answered && { ...found.answered, sampled: body.result };
    return { ...view, server_requests: requests.with(place, { ...found, answered }) };
  }
  const answered = { answer: body.answer, at, ...(body.why !== null && { why: body.why }) };
  return {
    ...view,
    state: view.state === 'waiting' ? 'running' : view.state,
    server_requests: requests.with(place, { ...found, answered }),
  };
}

/**
 * Returns the undo entry after the end of a call. A failed call changed nothing; whether an interrupted one did is not
 * known, so its copy stays on offer.
 */
function undoAfterEnd(view: CallView, state: CallView['state']): CallView['undo'] {
  if (state === 'interrupted') return view.undo;
  // An undo entry recorded after the call was done stands, or was undone, however the call ended.
  if (state !== 'done' && view.undo && view.undo.state !== 'prepared') return view.undo;
  return state === 'done' && view.undo ? { ...view.undo, state: 'applied' } : null;
}

/** The items of a piece of a result in words, each on lines of its own. */
export function inWords(content: readonly Content[]): string {
  return content.map((item) => `${itemInWords(item).replace(/\n+$/, '')}\n`).join('');
}

function itemInWords(item: Content): string {
  switch (item.type) {
    case 'text':
      return item.text;
    case 'image':
      return `[An image (${item.mime}, ${Math.floor(item.base64.length / 4) * 3} bytes).]`;
    case 'resource':
      return item.title === '' ? `[See ${item.uri}]` : `[See ${item.title}: ${item.uri}]`;
    default:
      return unknown(item);
  }
}

/** Cuts a text at its start so that at most `bytesMax` bytes of UTF-8 are left, never inside a character. */
export function keepEnd(text: string, bytesMax: number): string {
  // A UTF-16 unit is at most three bytes: below a third of the limit nothing needs to be measured.
  if (text.length * 3 <= bytesMax) return text;
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= bytesMax) return text;
  let cut = bytes.length - bytesMax;
  while (((bytes[cut] ?? 0) & 0b1100_0000) === 0b1000_0000) cut += 1;
  return new TextDecoder().decode(bytes.subarray(cut));
}

/** The session's line after an event; none if the session was never opened, or was deleted. `waiting` counts its calls on the desk. */
export function sessionAfter(before: SessionView | undefined, event: Event, waiting: number): SessionView | undefined {
  const body = event.body;
  if (body.type === 'session_deleted') return undefined;
  const view = before ?? (body.type === 'session_opened' ? opened(event, body) : undefined);
  if (!view) return undefined;
  // Nothing happened in the session.
  if (body.type === 'session_placed') return placed(view, body.place);
  const after = { ...view, changed_at: event.at, waiting };
  if (body.type === 'person_said' && view.place === 'archived') delete after.place;
  if (body.type === 'session_renamed') after.title = body.title;
  if (body.type === 'session_changed') after.state = body.state;
  if (body.type === 'sampling_finished') after.usage = plus(view.usage, body.result.usage);
  if (body.type === 'planning_set') after.planning = body.on;
  if (body.type === 'model_changed') return withModel(after, body);
  if (body.type === 'asks_skipped') after.skipped_asks = { seq: event.seq, since: event.at, until: body.until };
  if (body.type === 'asks_resumed') delete after.skipped_asks;
  if (body.type === 'agent_options_changed') after.agent_options = event.seq;
  if (body.type === 'agent_context_changed') after.context = body.context;
  if (body.type === 'turn_ended') {
    after.turns = view.turns + 1;
    after.usage = plus(view.usage, body.usage);
  }
  return after;
}

/** The session with another model, about whose context nothing was told. */
function withModel(
  { effort: _, context: __, ...view }: SessionView,
  { model, effort }: Extract<Event['body'], { type: 'model_changed' }>,
): SessionView {
  return effort === undefined ? { ...view, model } : { ...view, model, effort };
}

/** The session at another place of the list; the usual one is not named. */
function placed({ place: _, ...view }: SessionView, place: ListPlace): SessionView {
  return place === 'recent' ? view : { ...view, place };
}

function opened(event: Event, body: Extract<Event['body'], { type: 'session_opened' }>): SessionView {
  return {
    id: event.session,
    title: body.title,
    workspace: body.workspace,
    model: body.model,
    ...(body.options?.effort && { effort: body.options.effort }),
    ...(body.parent && { parent: body.parent }),
    state: 'idle',
    opened_at: event.at,
    changed_at: event.at,
    waiting: 0,
    turns: 0,
    usage: { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_usd: null },
  };
}

/** Both together; a cost that is not known makes the sum not known, unless that side used nothing at all. */
function plus(one: Usage, other: Usage): Usage {
  const known = (cost: number | null, rest: Usage) => (isNothing(rest) ? cost : null);
  return {
    input_tokens: one.input_tokens + other.input_tokens,
    cached_tokens: one.cached_tokens + other.cached_tokens,
    output_tokens: one.output_tokens + other.output_tokens,
    cost_usd:
      one.cost_usd !== null && other.cost_usd !== null
        ? one.cost_usd + other.cost_usd
        : (known(one.cost_usd, other) ?? known(other.cost_usd, one)),
  };
}

function isNothing(usage: Usage): boolean {
  return usage.input_tokens === 0 && usage.cached_tokens === 0 && usage.output_tokens === 0 && usage.cost_usd === null;
}

/** Throws for a value that the type checker proves unreachable. */
function unknown(value: never): never {
  throw new Error(`not known here: ${JSON.stringify(value)}`);
}
