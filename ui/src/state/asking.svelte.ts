// A question that is asked anew while a person writes: a while after the last letter, and only the newest answer
// counts.

import { faultOf } from '../ipc/desk';

export class Asking<Question, Reply> {
  /** Answer to the current question; none while there is none. */
  reply: Reply | null = $state.raw(null);
  /** Why the current question could not be answered; empty if it could. */
  trouble = $state('');
  /** Whether the answer to the current question is still to come. */
  busy = $state(false);
  #asked = '';
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #ask: (question: Question) => Promise<Reply>;
  readonly #afterMs: number;

  constructor(ask: (question: Question) => Promise<Reply>, afterMs: number) {
    this.#ask = ask;
    this.#afterMs = afterMs;
  }

  /** Asks, unless the same was asked before; none: nothing is asked any more. `anew` asks the same again. */
  put(question: Question | null, anew = false): void {
    const asked = question === null ? '' : JSON.stringify(question);
    if (asked === this.#asked && !anew) return;
    clearTimeout(this.#timer);
    this.#asked = asked;
    this.trouble = '';
    this.busy = question !== null;
    if (question === null) this.reply = null;
    else this.#timer = setTimeout(() => void this.#send(question, asked), this.#afterMs);
  }

  async #send(question: Question, asked: string): Promise<void> {
    try {
      const reply = await this.#ask(question);
      if (this.#asked !== asked) return;
      this.reply = reply;
    } catch (thrown) {
      if (this.#asked !== asked) return;
      const { message, hint } = faultOf(thrown);
      this.reply = null;
      this.trouble = `${message} ${hint}`.trim();
    }
    this.busy = false;
  }
}
