// The pages of the gallery, in their order: widgets, cards, screens.

import type { Component } from 'svelte';
import Broken from '../features/frame/Broken.svelte';
import CardsGallery from './CardsGallery.svelte';
import { effectSamples } from './effect_samples';
import InspectorGallery from './InspectorGallery.svelte';
import { componentPage, type GalleryPage } from './page';
import PartsGallery from './PartsGallery.svelte';
import PickerGallery from './PickerGallery.svelte';
import { samples } from './samples';
import { screens } from './screens';
import { serverSamples } from './server_samples';
import { sessionScreens } from './session_screens';
import Controls from './widgets/Controls.svelte';
import Fields from './widgets/Fields.svelte';
import Places from './widgets/Places.svelte';
import Texts from './widgets/Texts.svelte';

const widgets = (id: string, title: string, component: Component): GalleryPage =>
  componentPage({ id, group: 'Widgets', title }, component, {});
const card = <P extends Record<string, unknown>>(
  id: string,
  title: string,
  component: Component<P>,
  props: P,
): GalleryPage => componentPage({ id, group: 'Cards', title }, component, props);

const isWaiting = (name: string): boolean => samples[name as keyof typeof samples].body.state === 'waiting';
const pick = (holds: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(samples).filter(([name]) => holds(name)));
const waiting = pick(isWaiting);
/** One call of each way to answer: with a diff, a command, a hold, a request, a form. */
const { hunks, command, loss, external, form } = samples;
const settled = pick((name) => !isWaiting(name));

const broken = {
  message: 'The record could not be opened.',
  hint: 'Close other programs that use it, then try again.',
  context: ['database is locked', 'SQLITE_BUSY'],
};

export const pages: readonly GalleryPage[] = [
  widgets('controls', 'Buttons, switches, menus', Controls),
  widgets('fields', 'Fields and forms', Fields),
  widgets('texts', 'Texts, code, output', Texts),
  widgets('places', 'Lists, pages, notices', Places),
  card('waiting', 'Waiting', CardsGallery, { samples: waiting }),
  card('owner', 'Waiting, with the keys', CardsGallery, {
    samples: { hunks, command, loss, external, form },
    owner: true,
  }),
  card('settled', 'Running and settled', CardsGallery, { samples: settled }),
  card('opened', 'Settled, opened', CardsGallery, { samples: settled, open: true }),
  card('effects', 'Effects of commands', CardsGallery, { samples: effectSamples, owner: true, open: true }),
  card('servers', 'Tools of servers', CardsGallery, { samples: serverSamples, open: true }),
  card('always', 'Always…, other ways to run', PickerGallery, {}),
  card('parts', 'Groups of calls, keys', PartsGallery, {}),
  card('inspector', 'Inspector', InspectorGallery, {}),
  ...sessionScreens,
  ...screens,
  componentPage({ id: 'broken', group: 'Window', title: 'The engine did not open' }, Broken, { fault: broken }),
];
