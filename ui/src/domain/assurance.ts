// The assurance of this machine in words: whether anything real changes, and what can be taken back. Pure.

import type { Assurance } from '../ipc/bindings/Assurance';
import type { IconName } from '../widgets/icons';

/** What holds for a command, before anybody answered. */
export interface ShownAssurance {
  icon: IconName;
  /** How it is drawn: not real yet, plain, or a loss. */
  look: 'unreal' | 'plain' | 'lose';
  name: string;
  text: string;
}

/** What this machine can promise of a command that has not run. */
export const assurances: Record<Assurance, ShownAssurance> = {
  speculative: { icon: 'ghost', look: 'unreal', name: 'Speculative', text: 'a dry run changes nothing real' },
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
