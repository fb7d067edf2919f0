// From events to entries: the same fold as the engine's (crates/protocol/src/fold.rs), held to it by tests/golden.

import type { CallView } from '../ipc/bindings/CallView';
import type { Content } from '../ipc/bindings/Content';
import type { Entry } from '../ipc/bindings/Entry';
import type { EntryBody } from '../ipc/bindings/EntryBody';
import type { Event } from '../ipc/bindings/Event';
import type { MaskedCall } from '../ipc/bindings/MaskedCall';
import type { SessionView } from '../ipc/bindings/SessionView';
import type { ToolCall } from '../ipc/bindings/ToolCall';
import type { Usage } from '../ipc/bindings/Usage';

/** How much live output a folded call keeps, in bytes of UTF-8. */
export const OUTPUT_KEPT_BYTES = 64 * 1024;

/** An entry that is a call. */
export type CallEntry = Entry & { body: { type: 'call' } & CallView };

/** Tells whether an entry is a call. */
export function isCall(entry: Entry): entry is CallEntry {
  return entry.body.type === 'call';
}

/** The id of the entry that an event begins or changes; none for events about the session as a whole. */
export function entryId(event: Event): string | null {
  const body = event.body;
  switch (body.type) {
    case 'session_opened':
    case 'session_renamed':
    case 'session_changed':
    case 'planning_set':
    case 'limit_reached':
      return null;
    case 'person_said':
    case 'errand_ended':
    case 'turn_started':
    case 'agent_said':
    case 'answer_checked':
    case 'turn_ended':
      return body.message;
    case 'call_proposed':
      return body.call.id;
    case 'call_judged':
    case 'call_waits':
    case 'call_decided':
    case 'call_edited':
    case 'call_hooked':
    case 'undo_prepared':
    case 'call_started':
    case 'call_output':
    case 'call_update':
    case 'call_asked':
    case 'call_answered':
    case 'call_lent':
    case 'state_written':
    case 'call_progress':
    case 'call_ended':
    case 'undo_applied':
    case 'redo_applied':
      return body.call;
    case 'noted':
      return `note_${event.seq}`;
    default:
      return unknown(body);
  }
}

/** The entry that an event begins; none if it begins none. */
export function beginEntry(event: Event): Entry | null {
  const id = entryId(event);
  if (id === null) return null;
  const begin = (body: EntryBody): Entry => ({ id, session: event.session, seq: event.seq, at: event.at, body });
  const body = event.body;
  switch (body.type) {
    case 'person_said':
      return begin({
        type: 'person',
        text: body.text,
        ...(body.images?.length ? { images: body.images.length } : {}),
        steering: body.steering,
      });
    case 'errand_ended':
      return begin({ type: 'errand', child: body.child, title: body.title, text: body.text, failed: body.failed });
    case 'turn_started':
      return begin({
        type: 'agent',
        turn: body.turn,
        text: '',
        reasoning: '',
        writing: true,
        usage: null,
        error: null,
      });
    case 'call_proposed':
      return begin({ type: 'call', ...proposed(body.call, body.reasoning) });
    case 'noted':
      return begin({ type: 'notice', ...body.notice });
    case 'session_opened':
    case 'session_renamed':
    case 'session_changed':
    case 'planning_set':
    case 'agent_said':
    case 'answer_checked':
    case 'turn_ended':
    case 'call_judged':
    case 'call_waits':
    case 'call_decided':
    case 'call_edited':
    case 'call_hooked':
    case 'undo_prepared':
    case 'call_started':
    case 'call_output':
    case 'call_update':
    case 'call_asked':
    case 'call_answered':
    case 'call_lent':
    case 'state_written':
    case 'call_progress':
    case 'call_ended':
    case 'undo_applied':
    case 'redo_applied':
    case 'limit_reached':
      return null;
    default:
      return unknown(body);
  }
}

/** The entry after an event that is about it. */
export function changeEntry(entry: Entry, event: Event): Entry {
  switch (entry.body.type) {
    case 'person':
    case 'errand':
    case 'notice':
      return entry;
    case 'agent':
      return { ...entry, body: messageAfter(entry.body, event) };
    case 'call':
      return { ...entry, body: { ...callAfter(entry.body, event), type: 'call' } };
    default:
      return unknown(entry.body);
  }
}

/** Tells whether more events about an entry are to be expected. */
export function isLive(entry: Entry): boolean {
  switch (entry.body.type) {
    case 'person':
    case 'errand':
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
    outlook: { type: 'not_needed' },
    waits: null,
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

function messageAfter(message: AgentBody, event: Event): AgentBody {
  const body = event.body;
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

function callAfter(view: CallView, event: Event): CallView {
  const body = event.body;
  switch (body.type) {
    case 'call_judged': {
      const { tool, title, target, mode, kind, trail, preview, undo } = body;
      return { ...view, tool, title, target, mode, kind, trail, preview, outlook: undo };
    }
    case 'call_waits': {
      const { digest, grants, refreshed, expires_at } = body;
      const since = view.waits?.since ?? event.at;
      return { ...view, state: 'waiting', waits: { digest, since, grants, refreshed, expires_at } };
    }
    case 'call_decided':
      return { ...view, decision: { decision: body.decision, at: event.at } };
    case 'call_edited':
      return { ...view, edited: body.arguments };
    case 'undo_prepared':
      return { ...view, undo: body.entry };
    case 'call_started':
      return { ...view, state: 'running', waits: null, started_at: event.at };
    case 'call_output':
      return { ...view, output: keepEnd(view.output + body.text, OUTPUT_KEPT_BYTES) };
    case 'call_update':
      return { ...view, output: keepEnd(view.output + inWords(body.content), OUTPUT_KEPT_BYTES) };
    case 'state_written': {
      const { path, instance } = body;
      return { ...view, kept: { path, ...(instance !== undefined && { instance }) } };
    }
    case 'call_progress':
      return { ...view, progress: body.message };
    case 'call_asked':
    case 'call_answered':
    case 'call_lent':
      return asksAfter(view, body, event.at);
    case 'call_ended':
      return {
        ...masked(view, body.masked),
        state: body.outcome.state,
        progress: null,
        waits: null,
        ended_at: event.at,
        outcome: body.outcome,
        undo: undoAfterEnd(view, body.outcome.state),
      };
    case 'undo_applied':
      return { ...view, state: 'undone', undone_at: event.at, undo: view.undo && { ...view.undo, state: 'undone' } };
    case 'redo_applied':
      return {
        ...view,
        state: view.outcome?.state ?? 'done',
        undone_at: null,
        undo: view.undo && { ...view.undo, state: 'applied' },
      };
    case 'session_opened':
    case 'session_renamed':
    case 'session_changed':
    case 'planning_set':
    case 'person_said':
    case 'errand_ended':
    case 'turn_started':
    case 'agent_said':
    case 'answer_checked':
    case 'turn_ended':
    case 'call_proposed':
    case 'call_hooked':
    case 'limit_reached':
    case 'noted':
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

type AskBody = Extract<Event['body'], { type: 'call_asked' | 'call_answered' | 'call_lent' }>;

/** A question of a server stands on the desk with its call; its answer counts once, and only while the call goes on. */
function asksAfter(view: CallView, body: AskBody, at: number): CallView {
  const asks = view.asks ?? [];
  if (body.type === 'call_asked') {
    const { ask: id, asked, expires_at } = body;
    return { ...view, state: 'waiting', asks: [...asks, { id, asked, at, expires_at, answered: null }] };
  }
  const place = asks.findIndex((one) => one.id === body.ask && (body.type === 'call_lent') === (one.answered !== null));
  const ask = asks[place];
  if (!ask) return view;
  if (body.type === 'call_lent') {
    return {
      ...view,
      asks: asks.with(place, { ...ask, answered: ask.answered && { ...ask.answered, said: body.said } }),
    };
  }
  const answered = { answer: body.answer, at, ...(body.why !== null && { why: body.why }) };
  return {
    ...view,
    state: view.state === 'waiting' ? 'running' : view.state,
    asks: asks.with(place, { ...ask, answered }),
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

/** The session's line after an event; none if the session was never opened. `waiting` counts its calls on the desk. */
export function sessionAfter(before: SessionView | undefined, event: Event, waiting: number): SessionView | undefined {
  const body = event.body;
  const view = before ?? (body.type === 'session_opened' ? opened(event, body) : undefined);
  if (!view) return undefined;
  const after = { ...view, changed_at: event.at, waiting };
  if (body.type === 'session_renamed') after.title = body.title;
  if (body.type === 'session_changed') after.state = body.state;
  if (body.type === 'call_lent') after.usage = plus(view.usage, body.said.usage);
  if (body.type === 'planning_set') after.planning = body.on;
  if (body.type === 'turn_ended') {
    after.turns = view.turns + 1;
    after.usage = plus(view.usage, body.usage);
  }
  return after;
}

function opened(event: Event, body: Extract<Event['body'], { type: 'session_opened' }>): SessionView {
  return {
    id: event.session,
    title: body.title,
    workspace: body.workspace,
    model: body.model,
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
