// The properties of the form.

import type { Question } from '../../ipc/bindings';

/** A form and the acts on it. */
export interface FormProps {
  id: string;
  questions: readonly Question[];
  /** Index of the question that is asked now. */
  step: number;
  onstep: (step: number) => void;
  /** Whether the card owns the keys, and so shows its caps. */
  owner: boolean;
  /** Whether an answer is on its way. */
  busy: boolean;
  /** The answers given; none while it waits, or where nobody answered. */
  given: readonly (readonly string[])[] | null;
  waiting: boolean;
  onanswer: (answers: string[][]) => void;
  onskip: () => void;
  onlater: () => void;
}
