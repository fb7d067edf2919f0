// Stand-ins for what jsdom lacks: sizes, scrolling, media queries, modal dialogs.

import { configure } from '@testing-library/svelte';

// A busy machine takes its time.
configure({ asyncUtilTimeout: 10_000 });

const WINDOW_PX = { width: 800, height: 600 };
const ROW_PX = { width: 800, height: 40 };

/** Tells one size for every element: rows are 40 px, whatever scrolls is 600 px high. */
class Sizes implements ResizeObserver {
  #told: ResizeObserverCallback;
  constructor(told: ResizeObserverCallback) {
    this.#told = told;
  }
  observe(target: Element): void {
    const contentRect = target.classList.contains('scroll') ? WINDOW_PX : ROW_PX;
    queueMicrotask(() => this.#told([{ target, contentRect } as unknown as ResizeObserverEntry], this));
  }
  unobserve(): void {}
  disconnect(): void {}
}
class Nothing {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
  takeRecords(): [] {
    return [];
  }
}
// As index.html has it.
document.documentElement.lang = 'en';
globalThis.ResizeObserver = Sizes;
globalThis.IntersectionObserver ??= Nothing as unknown as typeof IntersectionObserver;
globalThis.matchMedia ??= (query: string) =>
  ({ matches: false, media: query, addEventListener() {}, removeEventListener() {} }) as unknown as MediaQueryList;
Element.prototype.scrollIntoView ??= () => {};
Element.prototype.scrollTo ??= () => {};
// jsdom lays nothing out, and virtua passes over what is not laid out.
Object.defineProperty(HTMLElement.prototype, 'offsetParent', {
  get(this: HTMLElement) {
    return this.parentElement;
  },
});
globalThis.CSS ??= { escape: (text: string) => text.replace(/[^\w-]/g, '\\$&') } as unknown as typeof CSS;
HTMLCanvasElement.prototype.getContext = () => null;
globalThis.createImageBitmap ??= () => Promise.resolve({ width: 4, height: 3, close() {} });
Object.defineProperty(document, 'fonts', { configurable: true, value: { ready: Promise.resolve() } });
HTMLImageElement.prototype.decode ??= () => Promise.resolve();
