// How the open transcript is read: what is searched for in it, and where the reader is.

import type { Jump } from './view';

/** An entry that was found, with the words to mark in it, as they stand there. */
export interface Found extends Jump {
  words: readonly string[];
}

export class Reading {
  /** Number of times that the search within the session was asked for; none while it is closed. */
  finding = $state(0);
  /** The entry that the search stands at. */
  found: Found | null = $state.raw(null);

  /** Position of the entry that the reader is at; none at the end of the transcript. */
  seq: number | null = $state(null);

  /** Opens the search within the session; its field gets the focus. */
  find(): void {
    this.finding += 1;
  }
  /** Closes it, and unmarks what was found. */
  close(): void {
    this.finding = 0;
    this.found = null;
  }
}
