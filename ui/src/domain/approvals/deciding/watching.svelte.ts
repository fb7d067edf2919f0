// Watches how a card is looked at: the part of it that is in view, and since when it has the focus. arming.ts rules on
// that.

import { SvelteSet } from 'svelte/reactivity';
import { grown, hasRest, looked, REST_MS, unseen, type Look, type View } from './arming';

/** The element that scrolls a card, or the page. */
function scrollerOf(element: Element): Element {
  for (let at = element.parentElement; at; at = at.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(at).overflowY)) return at;
  }
  return document.scrollingElement ?? document.documentElement;
}

/** Height that an element needs in order to be scrolled into view whole: its own, and the margins that scrolling keeps. */
function scrolledHeight(element: HTMLElement): number {
  const { scrollMarginTop, scrollMarginBottom } = getComputedStyle(element);
  const margin = (text: string): number => Number.parseFloat(text) || 0;
  return element.offsetHeight + margin(scrollMarginTop) + margin(scrollMarginBottom);
}

export class Watching {
  look: Look = $state.raw(unseen());
  /** Since when the focus has been within the card. */
  focusedSince: number | null = null;
  /** When *Show the rest* last gave its place to the answer, as drawn. */
  restEnded = Number.NEGATIVE_INFINITY;
  #restDrawn = false;
  #at = $state(0);
  #view: View = unseen().view;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #card: HTMLElement | undefined;
  /** Watches the card and the marks at its edges come into view and leave it. */
  #seen: IntersectionObserver | undefined;
  #watched: readonly HTMLElement[] = [];
  /** The parts of the card that are cut off, each by what shows all of it. */
  readonly #cuts = new SvelteSet<() => void>();

  /** Whether a part of a tall card has not been seen yet. */
  get rest(): boolean {
    return this.covered || hasRest(this.look, this.#at);
  }

  /** Whether the card is taller than its window, or a part of it is cut off. */
  get tall(): boolean {
    return this.covered || !this.look.view.fits;
  }

  /** Whether a part of the card is cut off. */
  get covered(): boolean {
    return this.#cuts.size > 0;
  }

  /** A part of the card is cut off, and `show` shows all of it; the result ends that. */
  cut(show: () => void): () => void {
    this.#cuts.add(show);
    return () => void this.#cuts.delete(show);
  }

  /** Begins to watch; the result ends it. `top` and `end` are marks at the card's two edges. */
  attach(card: HTMLElement, top: HTMLElement, end: HTMLElement): () => void {
    this.#card = card;
    const seen = new IntersectionObserver((changes) => {
      const view = { ...this.#view };
      for (const change of changes) {
        if (change.target === card) view.some = change.isIntersecting;
        if (change.target === top) view.top = change.isIntersecting;
        if (change.target === end) view.end = change.isIntersecting;
      }
      this.#see(view, Math.min(...changes.map((change) => change.time)));
    });
    // Whether the card fits depends on its window as well, which can change its size while no part comes or leaves.
    const measure = () => this.#see(this.#view);
    const sized = new ResizeObserver(measure);
    this.#seen = seen;
    this.#watched = [card, top, end];
    for (const element of this.#watched) seen.observe(element);
    for (const element of [card, scrollerOf(card)]) sized.observe(element);
    window.addEventListener('resize', measure);
    return () => {
      seen.disconnect();
      sized.disconnect();
      window.removeEventListener('resize', measure);
      clearTimeout(this.#timer);
    };
  }

  /** Notes which of the two was drawn in their one place: *Show the rest*, or the answer. */
  noteDrawn(rest: boolean): void {
    if (this.#restDrawn && !rest) this.restEnded = performance.now();
    this.#restDrawn = rest;
  }

  /** The focus came into the card, or left it. */
  focus(inside: boolean): void {
    this.focusedSince = inside ? (this.focusedSince ?? performance.now()) : null;
  }

  /** Starts over once the card's content has changed: the new content has not been seen yet. */
  renew(): void {
    this.look = unseen();
    this.#lookAgain({ ...this.#view, top: false, end: false, some: null });
  }

  /** Marks the card as grown by a part at its end, which must be seen before an answer counts. */
  grow(): void {
    this.look = grown(this.look);
    this.#lookAgain({ ...this.#view, end: false });
  }

  /** Scrolls a card that is out of view to where it can be seen whole, or from its top. */
  show(): void {
    this.#card?.scrollIntoView({ block: this.look.view.fits ? 'nearest' : 'start' });
  }

  /** Shows what is cut off, else scrolls on towards the part that has not been seen, at most a window at a time. */
  showRest(): void {
    const card = this.#card;
    if (!card) return;
    if (this.covered) {
      for (const show of [...this.#cuts]) show();
      return;
    }
    if (!this.look.topSeen) {
      card.scrollIntoView({ block: 'start' });
      return;
    }
    const scroller = scrollerOf(card);
    const left = card.getBoundingClientRect().bottom - scroller.getBoundingClientRect().bottom;
    const page = scroller.clientHeight * 0.75;
    if (left <= page) card.scrollIntoView({ block: 'end' });
    else scroller.scrollBy({ top: page });
  }

  /**
   * Goes on with what is certain of the view, and has the rest reported again: what was in view before the content changed
   * says nothing of the new content, which is laid out later, on a busy machine much later.
   */
  #lookAgain(certain: View): void {
    for (const element of this.#watched) this.#seen?.unobserve(element);
    this.#seen?.takeRecords();
    for (const element of this.#watched) this.#seen?.observe(element);
    this.#see(certain);
  }

  /** Takes a view. `until` is the time up to which the one before is certain. */
  #see(view: View, until = performance.now()): void {
    const card = this.#card;
    this.#view = { ...view, fits: !card || scrolledHeight(card) <= scrollerOf(card).clientHeight };
    this.#at = performance.now();
    this.look = looked(this.look, this.#view, this.#at, until);
    clearTimeout(this.#timer);
    // A timer may come a fraction early by the clock, and nothing would ask again.
    const settled = this.#at + REST_MS;
    this.#timer = setTimeout(() => {
      this.#at = Math.max(performance.now(), settled);
    }, REST_MS);
  }
}
