// How the open transcript is read: what is searched for in it, and where the reader is.

import type { Jump } from './view';

/** How much room the entries of a transcript take: usual, less, or less with finished calls folded to one line. */
export type Density = 'comfortable' | 'compact' | 'folded';

const DENSITIES: readonly Density[] = ['comfortable', 'compact', 'folded'];
/** Storage key of the density, on this machine. */
const KEPT = 'density';

/** An entry that was found, with the words to mark in it, as they stand there. */
export interface Found extends Jump {
  words: readonly string[];
}

export class Reading {
  #density: Density = $state(keptDensity());
  /** Number of times that the search within the session was asked for; none while it is closed. */
  finding = $state(0);
  /** The entry that the search stands at. */
  found: Found | null = $state.raw(null);

  /** Position of the entry that the reader is at; none at the end of the transcript. */
  seq: number | null = $state(null);

  get density(): Density {
    return this.#density;
  }
  /** Changes the density, now and for every later start. */
  set density(to: Density) {
    this.#density = to;
    localStorage.setItem(KEPT, to);
  }

  /** Opens the search within the session; its field gets the focus. */
  find(): void {
    this.finding += 1;
  }
  /** Closes it, and unmarks what was found. */
  close(): void {
    this.finding = 0;
    this.found = null;
  }
  /** Forgets where the reader was, as another session is read. */
  leave(): void {
    this.close();
    this.seq = null;
  }
}

function keptDensity(): Density {
  const kept = localStorage.getItem(KEPT);
  return DENSITIES.find((known) => known === kept) ?? 'comfortable';
}
