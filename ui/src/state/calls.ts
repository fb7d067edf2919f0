// What a call looks like, for several features.

import type { AskView } from '../ipc/bindings/AskView';
import type { CallState } from '../ipc/bindings/CallState';
import type { CallView } from '../ipc/bindings/CallView';
import type { Decision } from '../ipc/bindings/Decision';
import type { IconName } from '../widgets/icons';
import { callStates } from '../widgets/states';

/** The icon of a call: its kind, or what it shows where that says more. */
export function iconOf(view: CallView): IconName {
  if (view.preview.type === 'form') return 'question';
  if (view.preview.type === 'todo' || view.preview.type === 'plan') return 'todo';
  return view.kind;
}

/** What its state is called: a plan that was not accepted, and what was kept back, were no rejected calls. */
export function wordOf({ state, preview }: Pick<CallView, 'state' | 'preview'>): string {
  if (state === 'rejected' && preview.type === 'plan') return 'Not accepted';
  return state === 'rejected' && preview.type === 'came' ? 'Kept back' : callStates[state].text;
}

/** Whether a decision lets a call run where nothing real changes, and brings it back. */
export const isTrial = (decision: Decision): boolean => decision.type === 'dry_run' || decision.type === 'with_network';

/** Whether a call runs for show now: somebody asked for a dry run, or one comes before the question. */
export function rehearses({
  state,
  decision,
  preview,
  trail,
}: Pick<CallView, 'state' | 'decision' | 'preview' | 'trail'>): boolean {
  if (state !== 'running') return false;
  return decision === null ? preview.type === 'command' && trail?.verdict === 'ask' : isTrial(decision.decision);
}

/** What the server of a call asks now; none if it asks nothing. */
export function openAsk({ state, asks }: Pick<CallView, 'state' | 'asks'>): AskView | null {
  const last = asks?.at(-1);
  return state === 'waiting' && last && last.answered === null ? last : null;
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
