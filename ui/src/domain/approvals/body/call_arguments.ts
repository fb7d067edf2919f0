// Tells whether the head of a card shows all arguments of its call. Pure.

import type { CallView } from '../../../ipc/bindings';

/**
 * Tells whether a call's one argument is its target, whole. For a tool from elsewhere the argument's name counts as
 * well.
 */
export function isTargetOnly(view: Pick<CallView, 'call' | 'edited' | 'target' | 'mode'>): boolean {
  const values = Object.values(view.edited ?? view.call.arguments);
  const foreign = view.mode === null || view.mode === 'external';
  return !foreign && values.every((value) => value === view.target);
}
