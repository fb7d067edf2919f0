// Servers in words: how each is, what it says of its tools, how they stand to what was approved. Pure.

import type { PinState } from '../../ipc/bindings/PinState';
import type { ServerLogLine } from '../../ipc/bindings/ServerLogLine';
import type { ServerTool } from '../../ipc/bindings/ServerTool';
import type { ServerView } from '../../ipc/bindings/ServerView';
import type { ServerLogSource } from '../../ipc/bindings/ServerLogSource';
import type { ServerTransport } from '../../ipc/bindings/ServerTransport';
import type { DisplaySpan } from '../../ipc/bindings/DisplaySpan';
import { clock, exact, plural } from '../../widgets/figures';
import type { ShownState } from '../../domain/states';

/** What is being done with a server. */
export type Doing = 'on' | 'off' | 'approve' | 'restart' | 'remove' | 'set' | 'sign-in' | 'sign-out';

/** Named text as it would be read aloud. */
export const plainOf = (spans: readonly DisplaySpan[]): string => spans.map((span) => span.text).join('');

/** How a server is, or what is being done with it. */
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
export function wayText(way: ServerTransport): string {
  return way.type === 'http' ? way.url : [way.command, ...way.args].join(' ');
}

/** What a program in a sealed room reaches beside its folder: "no host", "api.example.com and docs.rs". */
export function hostsWords(hosts: readonly string[]): string {
  if (hosts.length === 0) return 'no host';
  return hosts.length === 1 ? (hosts[0] ?? '') : `${hosts.slice(0, -1).join(', ')} and ${hosts.at(-1) ?? ''}`;
}

/** What stands at a tool that is not as it was approved. */
export const pins: Record<PinState, { text: string; means: string }> = {
  pinned: { text: 'approved', means: 'As you approved it.' },
  new: { text: 'new', means: 'It was not there when you approved. It cannot be called before you approve it.' },
  changed: {
    text: 'changed',
    means: 'It is another than the one you approved. It cannot be called before you approve it.',
  },
  gone: { text: 'gone', means: 'The server has it no more, so it cannot be called.' },
};

/** The tools that wait for a look. */
export function waitingTools(server: ServerView): ServerTool[] {
  return server.waits === null ? [] : server.tools.filter((tool) => tool.pin === 'new' || tool.pin === 'changed');
}

/** "14 tools", "14 tools: 1 changed, 2 new". `one` is what one of them is called. */
export function toolsWords(tools: readonly { pin: PinState }[], one = 'tool'): string {
  const of = (pin: PinState) => tools.filter((tool) => tool.pin === pin).length;
  const marks = (['changed', 'new', 'gone'] as const)
    .filter((pin) => of(pin) > 0)
    .map((pin) => `${of(pin)} ${pins[pin].text}`);
  return `${tools.length === 0 ? `no ${one}s` : plural(tools.length, one)}${marks.length > 0 ? `: ${marks.join(', ')}` : ''}`;
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

/** Who says a line of the log. */
export const voices: Record<ServerLogSource, { text: string; means: string }> = {
  us: { text: 'Countersign', means: 'What happened to it' },
  stderr: { text: 'stderr', means: 'What it wrote to its standard error' },
  log: { text: 'log', means: 'What it told by the protocol' },
};

/** Lines of a log as text to be copied. */
export function logText(lines: readonly ServerLogLine[]): string {
  return lines.map((line) => `${exact(line.at_ms)}  ${line.from.padEnd(6)}  ${plainOf(line.text)}`).join('\n');
}

/** "11:41:07". */
export function second(at: number): string {
  return `${clock(at)}:${String(new Date(at).getSeconds()).padStart(2, '0')}`;
}
