// What a card takes itself for where its window changes its size.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
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
  document.body.replaceChildren();
  vi.unstubAllGlobals();
  vi.useRealTimers();
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
  watching.attach(card, top, end);
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
test('a window that becomes lower than the card shows the rest, though no part came or left', () => {
  const at = scene(600, 700);
  at.tell(true, true, false);
  expect([at.watching.tall, at.watching.rest]).toEqual([false, false]);
  at.resize(500);
  expect([at.watching.tall, at.watching.rest]).toEqual([true, true]);
  at.resize(700);
  expect([at.watching.tall, at.watching.rest]).toEqual([false, false]);
});
