// Servers in words: their state, their claims about their tools, and the state of the pins. Pure.

import type {
  Audience,
  DisplaySpan,
  PinState,
  ServerLogLine,
  ServerLogSource,
  ServerTool,
  ServerTransport,
  ServerView,
} from '../../ipc/bindings';
import { clock, exact, list, plural } from '../../widgets/figures';
import { msg } from '../../widgets/msg';
import type { ShownState } from '../../domain/states';

/** Act under way on a server. */
export type Doing = 'on' | 'off' | 'approve' | 'restart' | 'remove' | 'set' | 'sign-in' | 'sign-out';

/** Returns the plain text of named spans, as it would be read aloud. */
export const plainOf = (spans: readonly DisplaySpan[]): string => spans.map((span) => span.text).join('');

/** Returns the state of a server, or the act under way on it. */
export function stateOf(server: ServerView, doing?: Doing): ShownState {
  if (doing === 'on' || doing === 'restart') return { icon: 'running', text: 'Starting', ink: 'running' };
  const { state } = server;
  switch (state.type) {
    case 'off':
      return { icon: 'off', text: 'Off', ink: 'quiet' };
    case 'idle':
      return { icon: 'idle', text: 'On, starts when called', ink: 'quiet' };
    case 'starting':
      return { icon: 'running', text: 'Starting', ink: 'running' };
    case 'ready':
      return { icon: 'done', text: 'Connected', ink: 'done' };
    case 'unavailable':
      return { icon: 'failed', text: 'Unavailable', ink: 'failed' };
    case 'needs_sign_in':
      return { icon: 'waiting', text: 'Needs a sign-in', ink: 'waiting' };
  }
}

/** How a server is reached, as one text letter for letter. */
export function transportText(transport: ServerTransport): string {
  return transport.type === 'http' ? transport.url : [transport.command, ...transport.args].join(' ');
}

/**
 * Lists the hosts that a program in the sandbox may reach besides its folder: "no host", "api.example.com and docs.rs".
 */
export function hostsWords(hosts: readonly string[]): string {
  if (hosts.length === 0) return 'no host';
  return list(hosts);
}

/** Who reads what is sent to a server, as a form holds it. */
export type DraftAudience = Audience | 'unsaid';

/** Words for who reads what is sent to a server. */
export const audiences: Record<DraftAudience, string> = {
  unsaid: 'Not said',
  mine: 'You alone',
  others: 'Others, too',
};

/** Words for each state of a tool's pin. */
export const pins: Record<PinState, { text: string; means: string }> = {
  pinned: { text: msg('approved'), means: 'As you approved it.' },
  new: { text: msg('new'), means: 'It was not there when you approved. It cannot be called before you approve it.' },
  changed: {
    text: msg('changed'),
    means: 'It is another than the one you approved. It cannot be called before you approve it.',
  },
  gone: { text: msg('gone'), means: 'The server has it no more, so it cannot be called.' },
};

/** The tools that wait for a look. */
export function waitingTools(server: ServerView): ServerTool[] {
  return server.pending_digest === null
    ? []
    : server.tools.filter((tool) => tool.pin === 'new' || tool.pin === 'changed');
}

/** What a source offers: tools of a server, operations of a service. */
export type Offer = 'tool' | 'operation';

/** Words for what a source offers. */
export const offers: Record<Offer, OfferWords> = {
  tool: {
    sum: (many) => plural(many, ['# tool', '# tools']),
    none: msg('no tools'),
    notFound: 'No tool has all of that.',
    filter: 'Filter its tools',
    waits: (many) => plural(many, ['# tool waits for a look', '# tools wait for a look']),
    approve: (many) =>
      many === 1 ? 'Approve this tool' : plural(many, ['Approve this # tool', 'Approve these # tools']),
  },
  operation: {
    sum: (many) => plural(many, ['# operation', '# operations']),
    none: msg('no operations'),
    notFound: 'No operation has all of that.',
    filter: 'Filter its operations',
    waits: (many) => plural(many, ['# operation waits for a look', '# operations wait for a look']),
    approve: (many) =>
      many === 1 ? 'Approve this operation' : plural(many, ['Approve this # operation', 'Approve these # operations']),
  },
};

/** Words for one kind of what a source offers. */
interface OfferWords {
  /** Their number. */
  sum: (many: number) => string;
  /** That there are none. */
  none: string;
  /** That a filter found none. */
  notFound: string;
  /** Label of the filter. */
  filter: string;
  /** How many wait for a look. */
  waits: (many: number) => string;
  /** Label of the button that approves those that wait. */
  approve: (many: number) => string;
}

/** Describes the number of tools and their pins: "14 tools", "14 tools: 1 changed, 2 new". */
export function toolsWords(tools: readonly { pin: PinState }[], offer: Offer = 'tool'): string {
  const of = (pin: PinState) => tools.filter((tool) => tool.pin === pin).length;
  const marks = (['changed', 'new', 'gone'] as const)
    .filter((pin) => of(pin) > 0)
    .map((pin) => `${of(pin)} ${pins[pin].text}`);
  return `${tools.length === 0 ? offers[offer].none : offers[offer].sum(tools.length)}${marks.length > 0 ? `: ${marks.join(', ')}` : ''}`;
}

/** The first sentence of a description, hidden characters kept. */
export function firstOf(spans: readonly DisplaySpan[]): DisplaySpan[] {
  const out: DisplaySpan[] = [];
  for (const span of spans) {
    const end = span.control ? -1 : span.text.search(/[.!?](?=\s|$)|\n/);
    if (end < 0) out.push(span);
    else {
      out.push({ ...span, text: span.text.slice(0, end + 1) });
      break;
    }
  }
  return out;
}

/** Tells whether a server or one of its tools has every word of the filter. */
export function fits(texts: readonly string[], filter: string): boolean {
  const all = texts.join(' ').toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .every((word) => all.includes(word));
}

/** Words for the source of a line of the log. */
export const voices: Record<ServerLogSource, { text: string; means: string }> = {
  us: { text: 'Countersign', means: 'What happened to it' },
  stderr: { text: 'stderr', means: 'What it wrote to its standard error' },
  log: { text: msg('log'), means: 'What it told by the protocol' },
};

/** Lines of a log as text to be copied. */
export function logText(lines: readonly ServerLogLine[]): string {
  return lines.map((line) => `${exact(line.at_ms)}  ${line.from.padEnd(6)}  ${plainOf(line.text)}`).join('\n');
}

/** "11:41:07". */
export function second(at: number): string {
  return `${clock(at)}:${String(new Date(at).getSeconds()).padStart(2, '0')}`;
}
