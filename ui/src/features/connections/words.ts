// What is said of a connection: its state, what that means, and the acts that it leaves.

import type { ConnectionAction, ConnectionState, SessionImport } from '../../ipc/bindings';
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

/** Names of the acts, as what was done, and what then holds. */
export const actionWords: Record<ConnectionAction, { text: string; again: string; done: string; then: string }> = {
  connect: {
    text: 'Connect…',
    again: 'Connect again…',
    done: 'Connected',
    then: 'Before each of its calls it asks Countersign, from its next session on.',
  },
  disconnect: {
    text: 'Disconnect…',
    again: 'Disconnect…',
    done: 'Disconnected',
    then: 'Nobody judges its calls any more.',
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
