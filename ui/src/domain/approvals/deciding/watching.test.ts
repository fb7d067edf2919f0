// What counts as seen where the page is told late, or the window changes its size.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { REST_MS, rested } from './arming';
import { Watching } from './watching.svelte';

type Change = { target: Element; isIntersecting: boolean; time: number };

/** A card in a window, both with a height, and its marks. */
interface Scene {
  watching: Watching;
  card: HTMLElement;
  /** Gives the window another height, as the browser tells of it. */
  resize(height: number): void;
  /** Tells what is in view: any part of the card, its top, its end; and since when, if the page was too busy to hear of it. */
  tell(some: boolean, top: boolean, end: boolean, time?: number): void;
}

let told: ((changes: Change[]) => void) | undefined;
/** Ends what the test watches. */
let detach = (): void => {};
let sized: { told: () => void; targets: Element[] } | undefined;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      constructor(tell: (changes: Change[]) => void) {
        told = tell;
      }
      observe(): void {}
      unobserve(): void {}
      takeRecords(): [] {
        return [];
      }
      disconnect(): void {}
    },
  );
  vi.stubGlobal(
    'ResizeObserver',
    class {
      readonly targets: Element[] = [];
      constructor(told: () => void) {
        sized = { told, targets: this.targets };
      }
      observe(target: Element): void {
        this.targets.push(target);
      }
      disconnect(): void {}
    },
  );
});
afterEach(() => {
  detach();
  document.body.replaceChildren();
});

function scene(cardHeight: number, windowHeight: number): Scene {
  const scroller = document.createElement('div');
  scroller.style.overflowY = 'auto';
  const card = document.createElement('div');
  const top = document.createElement('span');
  const end = document.createElement('span');
  card.append(top, end);
  scroller.append(card);
  document.body.append(scroller);
  let height = windowHeight;
  Object.defineProperty(card, 'offsetHeight', { get: () => cardHeight });
  Object.defineProperty(scroller, 'clientHeight', { get: () => height });
  const watching = new Watching();
  detach = watching.attach(card, top, end);
  return {
    watching,
    card,
    resize(to) {
      height = to;
      if (sized?.targets.includes(scroller)) sized.told();
    },
    tell(some, topIn, endIn, time = performance.now()) {
      const parts: [Element, boolean][] = [
        [card, some],
        [top, topIn],
        [end, endIn],
      ];
      told?.(parts.map(([target, isIntersecting]) => ({ target, isIntersecting, time })));
    },
  };
}
/** Whether everything has been seen for long enough now. */
const seen = ({ watching }: Scene): boolean => rested(watching.look, performance.now());

test('a window that becomes lower than the card shows the rest, though no part came or left', () => {
  const at = scene(600, 700);
  at.tell(true, true, false);
  expect([at.watching.tall, at.watching.rest]).toEqual([false, false]);
  at.resize(500);
  expect([at.watching.tall, at.watching.rest]).toEqual([true, true]);
  at.resize(700);
  expect([at.watching.tall, at.watching.rest]).toEqual([false, false]);
});

test('content that was not laid out yet is not seen, however long that takes', () => {
  const at = scene(600, 700);
  at.tell(true, true, true);
  vi.advanceTimersByTime(REST_MS);
  expect(seen(at)).toBe(true);
  at.watching.renew();
  vi.advanceTimersByTime(10 * REST_MS);
  expect(seen(at)).toBe(false);
  expect(at.watching.look.view.some).toBeNull();
  at.tell(true, true, true);
  expect(seen(at), 'it has just come').toBe(false);
  vi.advanceTimersByTime(REST_MS);
  expect(seen(at)).toBe(true);
});

test('a part that was added at the end is not seen before it was laid out', () => {
  const at = scene(900, 700);
  at.tell(true, true, false);
  at.tell(true, false, true);
  vi.advanceTimersByTime(REST_MS);
  expect([seen(at), at.watching.rest]).toEqual([true, false]);
  at.watching.grow();
  vi.advanceTimersByTime(10 * REST_MS);
  expect([seen(at), at.watching.rest]).toEqual([false, true]);
  at.tell(true, false, false);
  expect([seen(at), at.watching.rest]).toEqual([false, true]);
  at.tell(true, false, true);
  vi.advanceTimersByTime(REST_MS);
  expect([seen(at), at.watching.rest]).toEqual([true, false]);
});

test('an end that only flew past was not seen, though the page heard of it late', () => {
  const at = scene(900, 700);
  at.tell(true, true, false);
  at.tell(true, false, true);
  vi.advanceTimersByTime(100);
  const left = performance.now();
  vi.advanceTimersByTime(10 * REST_MS);
  at.tell(true, false, false, left);
  expect([seen(at), at.watching.rest]).toEqual([false, true]);
});
