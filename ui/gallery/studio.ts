// Browsers that draw pages of the gallery to be photographed, each page in a frame of any width.

import { inject } from 'vitest';
import type { Photographed } from '../src/gallery/main';
import { HEIGHT } from '../src/gallery/widths';
import { Browser, HEIGHT_MAX } from './browser';

/** Script that puts a page into a frame of this width, in place of all that was there, and gives the frame the height of what is in
    it, which it returns. Below the frame, something is painted again and again: a picture is taken after the next painting, and of a
    page that is at rest there would be none. */
const SHOW = `const [address, width, least, most, done] = arguments;
  const pulse = document.createElement('div');
  Object.assign(pulse.style, { position: 'fixed', top: most + 'px', left: '0', width: '8px', height: '8px' });
  clearInterval(window.pulsing);
  window.pulsing = setInterval(() => { pulse.style.background = pulse.style.background === 'red' ? 'blue' : 'red'; }, 16);
  const frame = document.createElement('iframe');
  Object.assign(frame.style, { position: 'fixed', inset: '0 auto auto 0', border: '0', width: width + 'px', height: least + 'px' });
  frame.onload = () => {
    const { gallery } = frame.contentWindow;
    const fit = () => {
      const height = frame.contentDocument.documentElement.scrollHeight;
      const fitting = Math.min(most, Math.max(least, height)) + 'px';
      if (frame.style.height === fitting) return height;
      frame.style.height = fitting;
      // What a page draws late makes it higher once more.
      return gallery.settled().then(fit);
    };
    gallery.settled().then(fit).then(done, (error) => { gallery.faults.push(String(error)); done(0); });
  };
  frame.src = address;
  document.body.replaceChildren(frame, pulse);`;

/** Script that puts the page into a theme, and waits until that is painted. */
const WEAR = `const [theme, done] = arguments;
  document.querySelector('iframe').contentWindow.gallery.wear(theme)
    .then(() => requestAnimationFrame(() => requestAnimationFrame(() => done(null))));`;

const FIND_FAULTS = `arguments[0](document.querySelector('iframe').contentWindow.gallery.faults)`;
const LIST_MOUNTED = `arguments[0](document.querySelector('iframe').contentWindow.gallery.listMounted())`;

/** Script that returns the pages, once the gallery has them. */
const LIST_PAGES = `const [done] = arguments;
  const look = () => (window.gallery ? done(window.gallery.pages) : setTimeout(look, 25));
  look();`;

/** A page in the frame of a browser. */
export class FramedPage {
  readonly browser: Browser;
  /** Height of its content. */
  readonly height: number;

  constructor(browser: Browser, height: number) {
    this.browser = browser;
    this.height = height;
  }

  /** Photographs the page in a theme. */
  async photograph(theme: 'light' | 'dark'): Promise<Uint8Array> {
    await this.browser.run(WEAR, theme);
    return this.browser.photograph('iframe');
  }

  /** Returns the errors that nothing in the page handled. */
  findFaults(): Promise<string[]> {
    return this.browser.run<string[]>(FIND_FAULTS);
  }

  /** Returns the components of ours that stand on the page, by their paths below `src`. */
  listMounted(): Promise<string[]> {
    return this.browser.run<string[]>(LIST_MOUNTED);
  }
}

/** Browsers that draw the pages of the gallery. */
export interface Studio {
  pages: Photographed['pages'];
  /** Draws a page in a width, in the next browser that is free. */
  withPage: <T>(id: string, width: number, work: (page: FramedPage) => Promise<T>) => Promise<T>;
  close: () => void;
}

/** Starts browsers on the gallery that is served for this run. */
export async function openStudio(count: number): Promise<Studio> {
  const browsers = await Promise.all(Array.from({ length: count }, () => Browser.start()));
  const close = () => browsers.forEach((browser) => browser.close());
  const free = [...browsers];
  async function withPage<T>(id: string, width: number, work: (page: FramedPage) => Promise<T>): Promise<T> {
    const browser = free.pop();
    if (!browser) throw new Error(`More than ${count} pages are drawn at a time.`);
    try {
      const address = `/gallery.html?page=${id}&theme=light&still`;
      const height = await browser.run<number>(SHOW, address, width, HEIGHT, HEIGHT_MAX);
      return await work(new FramedPage(browser, height));
    } finally {
      free.push(browser);
    }
  }
  try {
    await Promise.all(browsers.map((browser) => browser.open(`${inject('gallery')}gallery.html`)));
    const pages = await browsers[0]!.run<Photographed['pages']>(LIST_PAGES);
    return { pages, withPage, close };
  } catch (error) {
    close();
    throw error;
  }
}
