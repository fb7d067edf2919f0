// A small search over folded entries, with the filters of the real one that the screens use.

import { isCall, type CallEntry } from '../state/fold';
import type { Entry, Facet, HitLine, Query, SearchHit, SearchPage, SessionView } from './bindings';

const LINES_SHOWN = 3;
const words = {
  waiting: 'Waiting',
  done: 'Done',
  failed: 'Failed',
  rejected: 'Rejected',
  denied: 'Denied',
  undone: 'Undone',
};

type SearchQuery = Extract<Query, { type: 'search' }>;

/** Finds entries that hold every word and pass every filter, newest first. */
export function searchEntries(
  all: readonly Entry[],
  sessions: ReadonlyMap<string, SessionView>,
  query: SearchQuery,
): SearchPage {
  const terms = query.text.match(/\w+:"[^"]*"|\S+/g) ?? [];
  const filters = terms.flatMap((term) => {
    const cut = term.indexOf(':');
    return cut > 0 ? [{ name: term.slice(0, cut), value: term.slice(cut + 1).replaceAll('"', '') }] : [];
  });
  const bare = terms.filter((term) => !/^\w+:/.test(term)).map((term) => term.replace(/["*]/g, '').toLowerCase());
  const unknown = filters.find(
    (filter) => !['tool', 'mode', 'state', 'session', 'path', 'before', 'after'].includes(filter.name),
  );
  const page = { searched: all.length, took_us: 1_400 };
  if (unknown) {
    const message = `There is no filter “${unknown.name}:”.`;
    const problem = { message, hint: 'Use tool: mode: state: session: path: before: after:', context: [] };
    return { ...page, hits: [], total: 0, facets: [], problem };
  }
  const has = (entry: Entry) => bare.every((word) => textOf(entry).toLowerCase().includes(word));
  const passes = (entry: Entry) => filters.every((filter) => passesOne(entry, filter.name, filter.value, sessions));
  const found = all
    .filter((entry) => has(entry) && passes(entry))
    .sort((one, other) => other.at - one.at || other.seq - one.seq);
  const hits = found.slice(query.offset, query.offset + query.limit).map((entry) => hit(entry, bare, sessions));
  return { ...page, hits, total: found.length, facets: facets(found, sessions), problem: null };
}

function passesOne(entry: Entry, name: string, value: string, sessions: ReadonlyMap<string, SessionView>): boolean {
  if (name === 'session') return entry.session === value || sessions.get(entry.session)?.title === value;
  if (!isCall(entry)) return false;
  if (name === 'tool') return entry.body.tool === value;
  if (name === 'mode') return entry.body.mode === value;
  if (name === 'state') return entry.body.state === value;
  if (name === 'path') return entry.body.target.includes(value);
  return true;
}

function textOf(entry: Entry): string {
  const body = entry.body;
  if (body.type === 'person' || body.type === 'agent' || body.type === 'sub_agent_task') return body.text;
  if (body.type === 'notice') return body.fault.message;
  return [`${body.title} ${body.target}`, body.reasoning, body.outcome?.text].filter(Boolean).join('\n');
}

function hit(entry: Entry, bare: readonly string[], sessions: ReadonlyMap<string, SessionView>): SearchHit {
  const call: CallEntry | null = isCall(entry) ? entry : null;
  const who = { person: 'You', sub_agent_task: 'Background', agent: 'Agent', notice: 'Notice', call: '' }[
    entry.body.type
  ];
  return {
    session: entry.session,
    session_title: sessions.get(entry.session)?.title ?? '',
    id: entry.id,
    seq: entry.seq,
    at: entry.at,
    body: entry.body.type,
    kind: call?.body.kind ?? null,
    title: call?.body.title ?? who,
    target: call?.body.target ?? '',
    state: call?.body.state ?? null,
    lines: linesAround(textOf(entry), bare),
  };
}

function linesAround(text: string, bare: readonly string[]): HitLine[] {
  const lines = text.split('\n');
  const first = Math.max(
    0,
    lines.findIndex((line) => bare.some((word) => line.toLowerCase().includes(word))),
  );
  return lines
    .slice(first, first + LINES_SHOWN)
    .map((line, i) => ({ number: first + i + 1, parts: parts(line, bare) }));
}

function parts(line: string, bare: readonly string[]): HitLine['parts'] {
  if (bare.length === 0) return [{ text: line, matched: false }];
  const escaped = bare.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pieces = line.split(new RegExp(`(${escaped.join('|')})`, 'i'));
  return pieces.map((text, i) => ({ text, matched: i % 2 === 1 })).filter((part) => part.text !== '');
}

function facets(found: readonly Entry[], sessions: ReadonlyMap<string, SessionView>): Facet[] {
  const counted = new Map<string, Facet>();
  const add = (filter: string, value: string, label: string) => {
    const key = `${filter}:${value}`;
    const facet = counted.get(key) ?? { filter, value, label, count: 0 };
    counted.set(key, { ...facet, count: facet.count + 1 });
  };
  for (const entry of found) {
    if (isCall(entry)) {
      add('state', entry.body.state, words[entry.body.state as keyof typeof words] ?? entry.body.state);
      if (entry.body.mode) add('mode', entry.body.mode, entry.body.mode.replace('_', ' '));
    }
    add('session', entry.session, sessions.get(entry.session)?.title ?? entry.session);
  }
  return [...counted.values()].sort((one, other) => other.count - one.count);
}
