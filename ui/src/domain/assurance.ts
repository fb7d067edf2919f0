// The assurances of this machine in words: whether anything real changes, and what can be undone. Pure.

import type { Assurance, CommandPreview } from '../ipc/bindings';
import type { IconName } from '../widgets/icons';

/** Assurance of a command as it is shown, before anybody answered. */
export interface ShownAssurance {
  icon: IconName;
  /** Look of the assurance: not real yet, plain, or a loss. */
  look: 'unreal' | 'plain' | 'lose';
  name: string;
  text: string;
}

/** Assurances that this machine can give for a command that has not run. */
export const assurances: Record<Assurance, ShownAssurance> = {
  speculative: { icon: 'ghost', look: 'unreal', name: 'Speculative', text: 'a dry run changes nothing' },
  snapshot: {
    icon: 'history',
    look: 'plain',
    name: 'Snapshot',
    text: 'runs for real, and Undo brings the folder back whole',
  },
  gate_only: {
    icon: 'm-destructive',
    look: 'lose',
    name: 'Gate only',
    text: 'runs for real, and what it changes cannot be undone',
  },
};

/** Returns the assurance of a command that has not run; none before the machine was probed. */
export function assuranceBefore({ assurance, delegated }: CommandPreview): ShownAssurance | null {
  if (assurance === undefined) return null;
  if (!delegated || assurance === 'gate_only') return assurances[assurance];
  return { ...assurances.snapshot, text: 'the agent runs it for real, and Undo brings the folder back whole' };
}
