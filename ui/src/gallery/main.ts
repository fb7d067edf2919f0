// The gallery: `npm run gallery`. A list of pages, each in a frame as wide as a window; ?page=ID&theme=dark is one of them alone.
// Not part of the app.

import { mount } from 'svelte';
import '../styles/tokens.css';
import '../styles/base.css';
import '../styles/card.css';
import { applyLanguage } from '../locales/language.svelte';
import Browser from './Browser.svelte';
import { pages } from './pages';

const asked = new URLSearchParams(location.search);
const theme = asked.get('theme') === 'dark' ? 'dark' : 'light';
document.documentElement.dataset['theme'] = theme;
await applyLanguage();
const target = document.getElementById('app');
const alone = pages.find(({ id }) => id === asked.get('page'));
if (target && alone) alone.draw(target, theme);
else if (target) mount(Browser, { target, props: { pages } });
