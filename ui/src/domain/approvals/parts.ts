// The arguments of a card's body, and the acts on it.

import type { DiffProps } from '../diff/parts';
import type { FormProps } from '../questions/parts';

/** For the difference. */
export interface DiffArgs extends DiffProps {
  /** Opens the choice of hosts that a command may reach; none where it cannot run again. */
  onnetwork?: (() => void) | null;
}

/** For the form. */
export type FormArgs = FormProps;
