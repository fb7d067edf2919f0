// The files that are offered for the name at the caret: asked for as it is typed, the last answer counts.

import { faultOf } from '../../ipc/desk';
import type { Desk } from '../../state/desk.svelte';
import { mentionAt, type Mention, type Typed } from './mention';

/** Number of files that are offered. */
const OFFERED_MAX = 12;
/** Time without a key after which is asked, in milliseconds. */
const PAUSE_MS = 80;

export class Mentions {
  /** The name that is being typed; none while there is none. */
  mention: Mention | null = $state.raw(null);
  /** The files that fit, the best first. */
  paths: readonly string[] = $state.raw([]);
  /** Index of the marked file. */
  at = $state(0);
  /** Why files could not be listed; empty if they could. */
  problem = $state('');
  /** Whether the list is open. */
  readonly open = $derived(this.mention !== null && (this.paths.length > 0 || this.problem !== ''));
  readonly marked = $derived(this.open ? this.paths[this.at] : undefined);
  readonly #desk: Desk;
  readonly #workspace: string;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(desk: Desk, workspace: string) {
    this.#desk = desk;
    this.#workspace = workspace;
  }

  /** Takes what was typed. */
  typed(typed: Typed): void {
    const mention = mentionAt(typed);
    clearTimeout(this.#timer);
    if (mention === null) {
      this.close();
      return;
    }
    this.mention = mention;
    this.#timer = setTimeout(() => void this.#ask(mention), PAUSE_MS);
  }
  /** Marks the next file, or the one before. */
  move(step: number): void {
    const count = this.paths.length;
    if (count > 0) this.at = (this.at + step + count) % count;
  }
  close(): void {
    clearTimeout(this.#timer);
    if (this.mention !== null) [this.mention, this.paths, this.at, this.problem] = [null, [], 0, ''];
  }

  async #ask(mention: Mention): Promise<void> {
    const query = { type: 'file_names', workspace: this.#workspace, text: mention.path, limit: OFFERED_MAX } as const;
    try {
      const { paths } = await this.#desk.query(query);
      if (this.mention === mention) [this.paths, this.at, this.problem] = [paths, 0, ''];
    } catch (thrown) {
      if (this.mention === mention) [this.paths, this.problem] = [[], faultOf(thrown).message];
    }
  }
}
