// The gallery page: `npm run dev`, then /gallery.html?theme=dark&owner=hunks&inspect=hunks&open; ?rules for the Rules screen, ?picker
// for Always…, ?cards=edit,command for some cards alone.
// Not part of the app.

import { mount } from 'svelte';
import '../styles/tokens.css';
import '../styles/base.css';
import '../styles/card.css';
import { Desk } from '../state/desk.svelte';
import Gallery from './Gallery.svelte';
import { SampleHost } from './host';
import PickerGallery from './PickerGallery.svelte';
import RulesGallery from './RulesGallery.svelte';
import { samples } from './samples';

const asked = new URLSearchParams(location.search);
const theme = asked.get('theme');
if (theme) document.documentElement.dataset['theme'] = theme;
const named = (name: string | null): keyof typeof samples => (name !== null && name in samples ? (name as keyof typeof samples) : 'hunks');
const waiting = Object.values(samples).filter((sample) => sample.body.state === 'waiting');
const target = document.getElementById('app');
if (target && asked.has('rules')) {
  mount(RulesGallery, { target });
} else if (target && asked.has('picker')) {
  mount(PickerGallery, { target });
} else if (target) {
  void Desk.open(new SampleHost(waiting)).then((desk) => {
    if (asked.has('split')) void desk.set({ diff: 'split' });
    mount(Gallery, { target, props: { desk, owner: named(asked.get('owner')), inspected: named(asked.get('inspect')), open: asked.has('open'), only: asked.get('cards')?.split(',').map(named) } });
  });
}
