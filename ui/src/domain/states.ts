// The states of calls and sessions: one icon, one word and one ink each.

import { msg } from '../widgets/msg';
import type { CallState, SessionState } from '../ipc/bindings';
import type { IconName } from '../widgets/icons';

/** Inks of states; `plain` is grey with a green check. */
type StateInk = 'waiting' | 'running' | 'done' | 'failed' | 'quiet' | 'undone';

/** How a state is shown. */
export interface ShownState {
  icon: IconName;
  text: string;
  ink: StateInk;
}

/** A call's state as it is shown. Rejected is a person, denied is a rule, expired is nobody. */
export const callStates: Record<CallState, ShownState> = {
  proposed: { icon: 'running', text: 'Asked for', ink: 'running' },
  waiting: { icon: 'waiting', text: 'Waiting', ink: 'waiting' },
  running: { icon: 'running', text: 'Running', ink: 'running' },
  done: { icon: 'done', text: 'Done', ink: 'done' },
  failed: { icon: 'failed', text: 'Failed', ink: 'failed' },
  denied: { icon: 'denied', text: 'Denied', ink: 'failed' },
  rejected: { icon: 'rejected', text: 'Rejected by you', ink: 'quiet' },
  expired: { icon: 'clock', text: 'Expired', ink: 'quiet' },
  interrupted: { icon: 'interrupted', text: 'Interrupted', ink: 'quiet' },
  skipped: { icon: 'rejected', text: 'Not run', ink: 'quiet' },
  undone: { icon: 'undone', text: 'Undone', ink: 'undone' },
};

/** A session's state as it is shown. */
export const sessionStates: Record<SessionState, ShownState> = {
  idle: { icon: 'done', text: msg('idle'), ink: 'quiet' },
  running: { icon: 'running', text: msg('running'), ink: 'running' },
  waiting: { icon: 'waiting', text: msg('waiting'), ink: 'waiting' },
  done: { icon: 'done', text: msg('done'), ink: 'done' },
  failed: { icon: 'failed', text: msg('failed'), ink: 'failed' },
  interrupted: { icon: 'interrupted', text: msg('interrupted'), ink: 'quiet' },
};
