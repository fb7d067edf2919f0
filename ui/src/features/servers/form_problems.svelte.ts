// A form that is being filled in, with the problems that are shown by now.

/** Problems by the names of their fields, each in one sentence that says what to do. */
export type Problems<N extends string> = Partial<Record<N, string>>;

/** Problems of a form. Each is shown once its field holds something, or saving was tried. */
export class FormProblems<N extends string> {
  /** Whether saving was tried: from then on every problem is shown. */
  tried = $state(false);
  readonly #problems: () => Problems<N>;
  readonly #holds: (name: N) => boolean;

  constructor(problems: () => Problems<N>, holds: (name: N) => boolean) {
    this.#problems = problems;
    this.#holds = holds;
  }
  /** Whether there is any problem, shown or not. */
  get bad(): boolean {
    return Object.keys(this.#problems()).length > 0;
  }
  told(name: N): string {
    return this.tried || this.#holds(name) ? (this.#problems()[name] ?? '') : '';
  }
}
