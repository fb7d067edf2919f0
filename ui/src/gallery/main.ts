// The gallery page: `npm run dev`, then /gallery.html?theme=dark&owner=hunks&inspect=hunks&open; ?rules for the Rules screen, ?picker
// for Always…, ?effects for what commands did, ?history, ?cards=edit,command for some cards alone.
// Not part of the app.

import { mount } from 'svelte';
import '../styles/tokens.css';
import '../styles/base.css';
import '../styles/card.css';
import { Desk, type CallEntry } from '../state/desk.svelte';
import Gallery from './Gallery.svelte';
import { SampleHost } from './host';
import HistoryGallery from './HistoryGallery.svelte';
import PickerGallery from './PickerGallery.svelte';
import RulesGallery from './RulesGallery.svelte';
import { effectSamples } from './effect_samples';
import { samples } from './samples';

const asked = new URLSearchParams(location.search);
const theme = asked.get('theme');
if (theme) document.documentElement.dataset['theme'] = theme;
const all = { ...samples, ...effectSamples };
const named = (name: string | null): keyof typeof all =>
  name !== null && name in all ? (name as keyof typeof all) : 'hunks';
const waiting = Object.values<CallEntry>(all).filter((sample) => sample.body.state === 'waiting');
const effectColumns: (keyof typeof all)[][] = [
  ['effects', 'effectsFailed', 'effectsMany'],
  [
    'canDryRun',
    'runsForReal',
    'gateOnly',
    'dryRunning',
    'effectsNone',
    'effectsEnded',
    'effectsSnapshot',
    'effectsCommitted',
    'effectsDiscarded',
  ],
];
const target = document.getElementById('app');
if (target && asked.has('rules')) {
  mount(RulesGallery, { target });
} else if (target && asked.has('history')) {
  mount(HistoryGallery, { target });
} else if (target && asked.has('picker')) {
  mount(PickerGallery, { target });
} else if (target) {
  void Desk.open(new SampleHost(waiting)).then((desk) => {
    if (asked.has('split')) void desk.set({ diff: 'split' });
    mount(Gallery, {
      target,
      props: {
        desk,
        all,
        columns: asked.has('effects') ? effectColumns : undefined,
        owner: named(asked.get('owner')),
        inspected: named(asked.get('inspect')),
        open: asked.has('open'),
        only: asked.get('cards')?.split(',').map(named),
      },
    });
  });
}
