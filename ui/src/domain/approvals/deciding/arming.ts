// Rules when an answer counts: only from a person who looks at exactly the digest shown. Pure; the card reports what is
// in view.

/** How long the card must have been in view, and have had the focus, before an answer counts. */
export const REST_MS = 400;
/** A press that comes so soon after the window became active merely activated it. */
export const WAKE_MS = 300;
/** A press that comes so soon after *Show the rest* gave its place to the answer was aimed at *Show the rest*. */
export const SWAP_MS = 300;

/** Parts of a card that are in view now. */
export interface View {
  /** Whether the very top of the card is in view. */
  top: boolean;
  /** Whether the very end of the card, below the answers, is in view. */
  end: boolean;
  /** Any part of it; none: that is not known yet. */
  some: boolean | null;
  /** Whether it is small enough to be seen whole. */
  fits: boolean;
}

/** History of a card's visibility since its content last changed. */
export interface Look {
  view: View;
  /** Whether its top was in view at some time. */
  topSeen: boolean;
  /** Since when all of it, or the end of a tall one, has been in view. */
  since: number | null;
  /** Whether the end of a tall card stayed in view long enough once. */
  endSeen: boolean;
  /** Since when any part has been in view. */
  someSince: number | null;
}

/** Returns the look of a card that nobody has seen: also the state after its content has changed. */
export function unseen(): Look {
  return {
    view: { top: false, end: false, some: null, fits: true },
    topSeen: false,
    since: null,
    endSeen: false,
    someSince: null,
  };
}

/** The look after the card got another part at its end: that must be seen as well. */
export function grown(before: Look): Look {
  return { ...before, since: null, endSeen: false };
}

/**
 * The look after the card came into view, left it, or changed its size. A page that was busy hears of that late: `until`
 * is the time up to which the view before is certain.
 */
export function looked(before: Look, view: View, at: number, until = at): Look {
  const topSeen = before.topSeen || view.top;
  const whole = view.fits ? view.top && view.end : view.end && topSeen;
  const rested = before.since !== null && until - before.since >= REST_MS;
  return {
    view,
    topSeen,
    since: whole ? (before.since ?? at) : null,
    endSeen: before.endSeen || (rested && before.topSeen),
    someSince: view.some ? (before.someSince ?? at) : null,
  };
}

/** Answer that a person means to give on a card. */
export type Wish = 'allow' | 'reject';
/** Means by which the person gives the answer. */
export type By = 'key' | 'pointer';

/** State that decides whether an answer counts. Times are milliseconds of one clock; none means never. */
export interface Moment {
  at: number;
  look: Look;
  /** Since when the card has had the focus; none while it has not. */
  focusedSince: number | null;
  /** When the window last became active; none while it is not. */
  windowSince: number | null;
  /** Whether an answer to exactly this was given already. */
  spent: boolean;
  /** Whether it must be held because it cannot be undone. */
  held: boolean;
  /** Whether a part of the card is cut off: that has not been seen. */
  covered?: boolean;
  /** Time at which the person last changed the grant; none if they did not. */
  changedAt?: number;
  /** Time at which *Show the rest* gave its place to the answer; none if it never stood there. */
  restEnded?: number;
}

/**
 * Ruling on a wish:
 * `go` it counts · `hold` it counts once held · `show` the card is scrolled into view · `rest` the unseen part is scrolled
 * into view · `wait` it came too soon and does nothing · `asleep` it only activated the window · `spent` it was said already.
 */
export type Ruling = 'go' | 'hold' | 'show' | 'rest' | 'wait' | 'asleep' | 'spent';

/** Tells whether everything on the card has been seen long enough. */
export function rested(look: Look, at: number): boolean {
  const now = look.since !== null && at - look.since >= REST_MS;
  return look.view.fits ? now : now || (look.endSeen && look.view.some === true);
}

/** Tells whether a part of a tall card has not been seen yet: its main button then shows the rest. */
export function hasRest(look: Look, at: number): boolean {
  return !look.view.fits && !rested({ ...look, view: { ...look.view, some: true } }, at);
}

/** Rules on one wish. Everything that is not clearly an answer is not one. */
export function rule(wish: Wish, by: By, moment: Moment): Ruling {
  const { at, look, focusedSince, windowSince, spent, covered, held, changedAt, restEnded } = moment;
  if (spent) return 'spent';
  if (windowSince === null || at - windowSince < WAKE_MS) return 'asleep';
  if (by === 'key' && (focusedSince === null || at - focusedSince < REST_MS)) return 'wait';
  if (look.view.some === null) return 'wait';
  if (!look.view.some) return 'show';
  if (wish === 'reject') return look.someSince !== null && at - look.someSince >= REST_MS ? 'go' : 'wait';
  if (look.view.fits && !(look.view.top && look.view.end)) return 'show';
  if (covered) return 'rest';
  if (hasRest(look, at)) return look.view.end && look.topSeen ? 'wait' : 'rest';
  if (!rested(look, at) || (changedAt !== undefined && at - changedAt < REST_MS)) return 'wait';
  if (restEnded !== undefined && at - restEnded < SWAP_MS) return 'wait';
  return held ? 'hold' : 'go';
}
