// A card in a page for tests, which scroll it into view by hand and let time pass by timers.

import { fireEvent, render, screen, within } from '@testing-library/svelte';
import { beforeEach, vi } from 'vitest';
import CardPage from '../../../gallery/CardPage.svelte';
import { SampleHost } from '../../../gallery/host';
import { NOW } from '../../../gallery/sample_calls';
import type { Op } from '../../../ipc/bindings';
import { Desk, type CallEntry } from '../../../state/desk.svelte';
import { pass } from '../../../testing/clock';
import { REST_MS } from '../deciding/arming';

type Seen = (changes: { target: Element; isIntersecting: boolean; time: number }[]) => void;
/** Intersection observers, triggered by hand. */
let observers: { tell: Seen; targets: Element[] }[] = [];
/** What was in view last: the card, its top, its end. */
let inView: boolean[] | undefined;

/** Gives each test of a file a clock and intersection observers that it drives by hand. */
export function prepareCardPages(): void {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.setSystemTime(NOW);
    observers = [];
    inView = undefined;
    // jsdom lacks pointer events with a button.
    vi.stubGlobal('PointerEvent', class extends MouseEvent {});
    vi.stubGlobal('IntersectionObserver', ManualObserver);
  });
}

/** An intersection observer that sees what a test says. */
class ManualObserver {
  readonly #own: (typeof observers)[number];
  constructor(tell: Seen) {
    this.#own = { tell, targets: [] };
    observers.push(this.#own);
  }
  observe(target: Element): void {
    const { tell, targets } = this.#own;
    const known = targets.indexOf(target);
    if (known < 0) targets.push(target);
    // What is observed anew is told of anew.
    else queueMicrotask(() => inView && tell([change(target, known)]));
  }
  unobserve(): void {}
  takeRecords(): [] {
    return [];
  }
  disconnect(): void {}
}

function change(target: Element, i: number): Parameters<Seen>[0][number] {
  return { target, isIntersecting: inView?.[i] ?? false, time: performance.now() };
}
/** Everything that is watched comes into view, or leaves it: the card, its top, its end. */
export function see(card: boolean, top: boolean, end: boolean): void {
  inView = [card, top, end];
  for (const { tell, targets } of observers) tell(targets.map(change));
}

/** The page as a test drives it. */
export interface Page {
  host: SampleHost;
  card: HTMLElement;
  show: (entry: CallEntry) => Promise<void>;
  key: (key: string, target?: Element) => Promise<void>;
  click: (testid: string) => Promise<void>;
}

/** Opens a page with one card that has been in view for long enough and has the focus. */
export async function page(
  entry: CallEntry,
  ready = true,
  prepare: (host: SampleHost) => void = () => {},
): Promise<Page> {
  const host = new SampleHost(entry.body.state === 'waiting' ? [entry] : []);
  prepare(host);
  const desk = await Desk.open(host);
  const { rerender } = render(CardPage, { desk, entry, owner: true, open: false });
  const card = screen.getByTestId(`card-${entry.id}`);
  if (ready) {
    card.focus();
    see(true, true, true);
    await pass(REST_MS + 100);
  }
  return {
    host,
    card,
    show: async (next) => rerender({ desk, entry: next, owner: true, open: false }),
    async key(key, target = card) {
      const more = { key, code: key.length === 1 ? `Key${key.toUpperCase()}` : key, bubbles: true, cancelable: true };
      // As a browser does: Enter and Space press a button, unless somebody took the key.
      const went = await fireEvent.keyDown(target, more);
      if (went && (key === 'Enter' || key === ' ') && target instanceof HTMLButtonElement) target.click();
      await fireEvent.keyUp(target, more);
      await pass(0);
    },
    async click(testid) {
      const button = within(card).getByTestId(testid);
      await fireEvent.pointerDown(button, { button: 0 });
      await fireEvent.pointerUp(button, { button: 0 });
      await fireEvent.click(button, { detail: 1 });
      await pass(0);
    },
  };
}
/** The decisions that were sent. */
export const decisions = (host: SampleHost) =>
  host.ops.flatMap((op: Op) => (op.type === 'decide' ? [op.decision] : []));
/** Plain consent. */
export const allow = { type: 'allow', hunks: null, note: '' };
