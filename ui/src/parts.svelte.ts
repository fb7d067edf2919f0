// What the first start's screen does without: loaded once that is drawn, and drawn itself once it is there.

type Work = typeof import('./work');
type Rest = typeof import('./rest');

let work: Work | null = $state.raw(null);
let rest: Rest | null = $state.raw(null);

/** What is there by now. */
export const parts = {
  /** Transcript, cards, inspector. */
  get work(): Work | null {
    return work;
  },
  /** The other screens and panels. */
  get rest(): Rest | null {
    return rest;
  },
};

export async function loadWork(): Promise<void> {
  work ??= await import('./work');
}

/** Loads all that is not there yet. */
export async function loadParts(): Promise<void> {
  await loadWork();
  rest ??= await import('./rest');
}
