// What is said of a connection: its state, what that means, and the acts that it leaves.

import type {
  AgentServersView,
  ConnectionAction,
  ConnectionState,
  ServerRoute,
  SessionImport,
} from '../../ipc/bindings';
import { plural } from '../../widgets/figures';
import type { ShownState } from '../../domain/states';

/** How the state of a connection is shown. */
export const connectionStates: Record<ConnectionState['type'], ShownState> = {
  not_connected: { icon: 'off', text: 'Not connected', ink: 'quiet' },
  connected: { icon: 'done', text: 'Connected', ink: 'done' },
  other_program: { icon: 'info', text: 'Connected by another program', ink: 'quiet' },
  changed: { icon: 'failed', text: 'Changed since', ink: 'failed' },
  removed: { icon: 'failed', text: 'Its hooks are gone', ink: 'failed' },
  switched_off: { icon: 'failed', text: 'Switched off', ink: 'failed' },
  unreadable: { icon: 'failed', text: 'Cannot be read', ink: 'failed' },
};

/** Returns what a state means for the agent's calls; empty where its word says it all. */
export function meaningOf(state: ConnectionState): string {
  switch (state.type) {
    case 'not_connected':
    case 'connected':
      return '';
    case 'other_program':
      return `Its hooks call \`${state.program}\`, and not the program of this app.`;
    case 'changed':
      return 'Its hooks were changed, or some are missing: not every call is judged. Connect it again to mend them.';
    case 'removed':
      return 'It was connected, and its hooks are gone: no call is judged. Connect it again to put them back.';
    case 'switched_off':
      return `Its configuration switches all hooks off at \`${state.switch}\`: no call is judged. Take that out.`;
    case 'unreadable':
      return `${state.error.message} ${state.error.hint}`.trim();
  }
}

/** Returns what can be done to a connection in a state, the most useful first. */
export function actionsFor(state: ConnectionState): readonly ConnectionAction[] {
  switch (state.type) {
    case 'not_connected':
      return ['connect'];
    case 'connected':
    case 'switched_off':
      return ['disconnect'];
    case 'other_program':
    case 'changed':
    case 'removed':
      return ['connect', 'disconnect'];
    case 'unreadable':
      return [];
  }
}

/** Returns what can be done to the servers of an agent, the most useful first. */
export function serverActions(servers: AgentServersView): readonly ConnectionAction[] {
  if (servers.type === 'unreadable') return [];
  const has = servers.servers.some(({ route }) => route.type === 'direct');
  return [
    ...(has ? (['connect_servers'] as const) : []),
    ...(servers.can_restore ? (['restore_servers'] as const) : []),
  ];
}

/** Whether an act changes the servers of an agent, and not its hooks. */
export const isOfServers = (action: ConnectionAction): boolean =>
  action === 'connect_servers' || action === 'restore_servers';

/** Returns how an agent reaches a server. */
export function routeWords(route: ServerRoute): string {
  switch (route.type) {
    case 'gateway':
      return 'Through Countersign, which judges each call.';
    case 'direct':
      return 'Directly.';
    case 'fixed':
      return `Directly. ${route.reason}`;
  }
}

/** Returns the name of an act on an agent. */
export function nameOf(action: ConnectionAction, agent: string): string {
  switch (action) {
    case 'connect':
      return `Connect ${agent}`;
    case 'disconnect':
      return `Disconnect ${agent}`;
    case 'connect_servers':
      return `Connect the servers of ${agent}`;
    case 'restore_servers':
      return `Put the servers of ${agent} back`;
  }
}

interface ActionWords {
  text: string;
  again: string;
  done: string;
  then: string;
  /** Whether it puts Countersign in front of something. */
  adds: boolean;
}

/** Names of the acts, as what was done, and what then holds. */
export const actionWords: Record<ConnectionAction, ActionWords> = {
  connect: {
    text: 'Connect…',
    again: 'Connect again…',
    done: 'Connected',
    then: 'Before each of its calls it asks Countersign, from its next session on.',
    adds: true,
  },
  disconnect: {
    text: 'Disconnect…',
    again: 'Disconnect…',
    done: 'Disconnected',
    then: 'Nobody judges its calls any more.',
    adds: false,
  },
  connect_servers: {
    text: 'Connect servers…',
    again: 'Connect servers…',
    done: 'Servers connected',
    then: 'It reaches them through Countersign, from its next session on.',
    adds: true,
  },
  restore_servers: {
    text: 'Put servers back…',
    again: 'Put servers back…',
    done: 'Servers put back',
    then: 'It reaches them directly again, from its next session on.',
    adds: false,
  },
};

/** Returns what an import added, and what could not be read. */
export function importWords({ added, grown, unchanged, elsewhere, faults, reasons }: SessionImport): string {
  const sessions = (count: number): string => plural(count, ['# session', '# sessions']);
  const parts = [
    added > 0 && `${sessions(added)} added.`,
    grown > 0 && `${sessions(grown)} had something new.`,
    unchanged > 0 && `${sessions(unchanged)} had nothing new.`,
    elsewhere > 0 && `${sessions(elsewhere)} left out: their folders are not known.`,
    faults > 0 &&
      `Not read: ${plural(faults, ['# line or file', '# lines and files'])}, the first: ${reasons[0] ?? ''}.`,
  ];
  return parts.filter(Boolean).join(' ') || 'There was nothing to import.';
}
