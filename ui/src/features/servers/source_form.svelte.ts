// A form of a server or service that is being filled in, with the problems that are shown by now.

import { createContext } from 'svelte';
import type { SourceStore, ToolSource } from './sources.svelte';

/** Properties of the form of a server or service. */
export interface FormProps<V extends ToolSource, C> {
  store: SourceStore<V, C>;
  /** Settings that are changed; none for a new server or service. */
  settings: V['settings'] | null;
  /** Names that are taken. */
  others: readonly string[];
  ondone: (id: string) => void;
  onclose: () => void;
}

/** Problems by the names of their fields, each in one sentence that says what to do. */
export type Problems<N extends string> = Partial<Record<N, string>>;

/** Problems of a form. Each is shown once its field holds something, or saving was tried. */
export class FormProblems<N extends string> {
  /** Whether saving was tried: from then on every problem is shown. */
  tried = $state(false);
  readonly #problems: () => Problems<N>;
  readonly #holds: Partial<Record<N, () => boolean>>;

  /** `holds` tells whether a field holds something; a field that is not in it always does. */
  constructor(problems: () => Problems<N>, holds: Partial<Record<N, () => boolean>>) {
    this.#problems = problems;
    this.#holds = holds;
  }
  /** Whether there is any problem, shown or not. */
  get bad(): boolean {
    return Object.keys(this.#problems()).length > 0;
  }
  told(name: N): string {
    return this.tried || (this.#holds[name]?.() ?? true) ? (this.#problems()[name] ?? '') : '';
  }
}

/** The form as its lines need it: the name for test ids, the problem that is shown at a field, and saving. */
interface SourceFormContext {
  name: string;
  told: (field: string) => string;
  save: () => Promise<void>;
}
export const [getForm, setForm] = createContext<SourceFormContext>();
