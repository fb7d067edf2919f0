// A press that came too soon to count: the button that it was meant for says so for as long as arming takes.

import { REST_MS, type By, type Wish } from './arming';

export class EarlyPress {
  /** What the last such press asked for, until one would count. */
  wish: Wish | null = $state(null);
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #tell: (by: By) => void;

  /** `tell` says it to who does not see the button. */
  constructor(tell: (by: By) => void) {
    this.#tell = tell;
  }

  /** A press did not count. */
  swallow(wish: Wish, by: By): void {
    clearTimeout(this.#timer);
    this.wish = wish;
    this.#timer = setTimeout(() => (this.wish = null), REST_MS);
    this.#tell(by);
  }
}
