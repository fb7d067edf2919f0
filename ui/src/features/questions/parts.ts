// What the form is given; the card's arguments fit it.

import type { Question } from '../../ipc/bindings/Question';

/** A form with what can be done about it. */
export interface FormProps {
  id: string;
  questions: readonly Question[];
  step: number;
  onstep: (step: number) => void;
  owner: boolean;
  busy: boolean;
  given: readonly (readonly string[])[] | null;
  waiting: boolean;
  onanswer: (answers: string[][]) => void;
  onskip: () => void;
  onlater: () => void;
}
