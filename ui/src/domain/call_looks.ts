// The icon, the word and the state that a call is shown with.

import type { CallState, CallView } from '../ipc/bindings';
import type { IconName } from '../widgets/icons';
import { callStates } from './states';

/** Tells whether a call gives work to another agent, whose own calls are judged. */
export function isSubAgentTask({ tool }: Pick<CallView, 'tool'>): boolean {
  return tool === 'task';
}

/** Returns the icon of a call: by its kind, or by its preview where that is more specific. */
export function iconOf(view: CallView): IconName {
  if (view.preview.type === 'form') return 'question';
  if (view.preview.type === 'todo' || view.preview.type === 'plan') return 'todo';
  return isSubAgentTask(view) ? 'task' : view.kind;
}

/**
 * Returns the word for the state of a call: a plan that was not accepted, or content that was kept back, is no rejected
 * call.
 */
export function wordOf({ state, preview }: Pick<CallView, 'state' | 'preview'>): string {
  if (state === 'rejected' && preview.type === 'plan') return 'Not accepted';
  return state === 'rejected' && preview.type === 'response' ? 'Kept back' : callStates[state].text;
}

/** The exit code of a command, where the tool gave one. */
export function exitCode(view: CallView): number | null {
  const data = view.outcome?.data;
  if (typeof data !== 'object' || data === null) return null;
  const code = 'exit_code' in data ? data.exit_code : 'exit' in data ? data.exit : null;
  return typeof code === 'number' ? code : null;
}

/** The state that a call looks like: a command that reports a failure ended well, and is not drawn as if all were. */
export function lookOf(view: CallView): CallState {
  const code = exitCode(view);
  return view.state === 'done' && code !== null && code !== 0 ? 'failed' : view.state;
}
