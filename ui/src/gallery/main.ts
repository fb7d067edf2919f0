// The gallery: `npm run gallery`. A list of pages, each in a frame as wide as a window; ?page=ID&theme=dark is one of them alone,
// and with &still it is one to be photographed. Not part of the app.

import './still';
import { mount, tick } from 'svelte';
import '../styles/tokens.css';
import '../styles/base.css';
import '../styles/card.css';
import { applyLanguage } from '../locales/language.svelte';
import Browser from './Browser.svelte';
import { listMounted } from './mounted';
import { pages } from './pages';
import { addPending } from './press';
import { quiet } from './quiet';
import { settled } from './settled';

const asked = new URLSearchParams(location.search);
const theme = asked.get('theme') === 'dark' ? 'dark' : 'light';
const faults: string[] = [];

/** What photographs a page asks of it. */
const photographed = {
  pages: pages.map(({ id, group, title }) => ({ id, group, title })),
  /** Errors that nothing in the page handled. */
  faults,
  settled,
  listMounted,
  /** Changes the theme of the page; resolves once it is drawn in it. */
  wear: async (chosen: 'light' | 'dark'): Promise<void> => {
    if (document.documentElement.dataset['theme'] === chosen) return;
    document.documentElement.dataset['theme'] = chosen;
    document.dispatchEvent(new CustomEvent('gallerytheme', { detail: chosen }));
    await quiet();
  },
};
export type Photographed = typeof photographed;
Object.assign(window, { gallery: photographed });
addEventListener('error', ({ message }) => message.startsWith('ResizeObserver loop') || faults.push(message));
addEventListener('unhandledrejection', ({ reason }) => faults.push(String(reason)));

document.documentElement.dataset['theme'] = theme;

/** Resolves once the styles are there, which a script does not wait for: what is measured before has another size. */
function waitForStyles(): Promise<unknown> {
  if (document.readyState === 'complete') return Promise.resolve();
  return new Promise((loaded) => addEventListener('load', loaded, { once: true }));
}

async function draw(): Promise<void> {
  await Promise.all([waitForStyles(), applyLanguage()]);
  const target = document.getElementById('app');
  const alone = pages.find(({ id }) => id === asked.get('page'));
  if (target && alone) alone.draw(target, theme);
  else if (target) mount(Browser, { target, props: { pages } });
  // What the page waits for has begun by then.
  await tick();
}
addPending(draw());
