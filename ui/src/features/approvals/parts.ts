// What a card hands to the features that draw its body. App-level code passes their components in as snippets.

import type { DiffLayout } from '../../ipc/bindings/DiffLayout';
import type { FileDiff } from '../../ipc/bindings/FileDiff';
import type { Question } from '../../ipc/bindings/Question';
import type { Span } from '../../ipc/bindings/Span';
import type { Chosen } from './hunks';

/** For the difference. */
export interface DiffArgs {
  files: readonly FileDiff[];
  layout: DiffLayout;
  /** What is chosen of it. */
  pick: Chosen;
  /** Puts hunks in or leaves them out; none where nothing can be chosen any more. */
  onput: ((ids: readonly number[], into: boolean) => void) | null;
  /** Chooses the layout; none where there is no room for two columns. */
  onlayout: ((layout: DiffLayout) => void) | null;
  /** Lines of the file around the change; none where the file has moved on. */
  lines: ((path: string, start: number, count: number) => Promise<Span[][]>) | null;
  /** Opens the choice of hosts that a command may reach; none where it cannot run again. */
  onnetwork?: (() => void) | null;
}

/** For the form. */
export interface FormArgs {
  id: string;
  questions: readonly Question[];
  /** Which question is asked now. */
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
