// A press that came too soon to count: the button that it was meant for says so for as long as arming takes.

import { REST_MS, type By, type Wish } from './arming';

export class EarlyPress {
  /** Answer that the last early press asked for, until a press would count. */
  wish: Wish | null = $state(null);
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #tell: (by: By) => void;

  /** `tell` announces the early press to people who do not see the button. */
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
