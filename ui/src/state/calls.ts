// Facts of a call, read from its view. Pure.

import type { CallView, Decision, ServerRequestView } from '../ipc/bindings';

/** Tells whether a decision lets a call run where nothing real changes, and brings it back. */
export const isTrial = (decision: Decision): boolean => decision.type === 'dry_run' || decision.type === 'with_network';

/** Tells whether a call runs as a dry run now: somebody asked for one, or one comes before the question. */
export function isDryRunning({
  state,
  decision,
  preview,
  trail,
}: Pick<CallView, 'state' | 'decision' | 'preview' | 'trail'>): boolean {
  if (state !== 'running') return false;
  return decision === null ? preview.type === 'command' && trail?.verdict === 'ask' : isTrial(decision.decision);
}

/** Returns the open question of a call's server; none if there is none. */
export function openAsk({
  state,
  server_requests,
}: Pick<CallView, 'state' | 'server_requests'>): ServerRequestView | null {
  const last = server_requests?.at(-1);
  return state === 'waiting' && last && last.answered === null ? last : null;
}
