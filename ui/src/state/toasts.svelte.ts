// Toasts at the edge of the window, at most a few at a time.

import type { IconName } from '../widgets/icons';

/** A short message about an event. */
export interface ToastLine {
  icon: IconName;
  /** Ink of the icon; `asking` is for a waiting card. */
  ink: 'asking' | 'failed' | 'undone' | 'plain';
  title: string;
  text?: string | undefined;
  act?: { text: string; run: () => void };
  /** Topic of the toast: a newer toast on the same topic replaces it. */
  about?: string;
  /** Whether the toast goes by itself after a while. */
  brief?: boolean;
}

/** How many toasts are shown at most, all waiting cards being one. */
const SHOWN_MAX = 4;
const BRIEF_MS = 8_000;

export class Toasts {
  #next = 1;
  lines: readonly (ToastLine & { id: number })[] = $state.raw([]);

  add(line: ToastLine): void {
    const id = this.#next++;
    const others = this.lines.filter(
      (other) =>
        (line.about === undefined || other.about !== line.about) &&
        (line.ink === 'asking' || other.title !== line.title || other.text !== line.text),
    );
    const all = [...others, { ...line, id }];
    const kept = all.filter(({ ink }) => ink !== 'asking').slice(-SHOWN_MAX);
    this.lines = all.filter((one) => one.ink === 'asking' || kept.includes(one));
    if (line.brief) setTimeout(() => this.close(id), BRIEF_MS);
  }

  /** Shows the new toasts, and removes those of cards that are over. */
  take({ over, toasts }: { over: readonly string[]; toasts: readonly ToastLine[] }): void {
    this.lines = this.lines.filter((line) => line.about === undefined || !over.includes(line.about));
    for (const line of toasts) this.add(line);
  }

  close(id: number): void {
    this.lines = this.lines.filter((line) => line.id !== id);
  }
}
