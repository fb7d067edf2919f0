// The pages of the gallery, in their order: widgets, cards, screens.

import { mount, type Component } from 'svelte';
import type { Theme } from '../ipc/bindings';
import { SETTINGS_SECTIONS } from '../state/view';
import type { Desk } from '../state/desk.svelte';
import CardsGallery from './CardsGallery.svelte';
import { effectSamples } from './effect_samples';
import HistoryGallery from './HistoryGallery.svelte';
import InspectorGallery from './InspectorGallery.svelte';
import PartsGallery from './PartsGallery.svelte';
import PickerGallery from './PickerGallery.svelte';
import RulesGallery from './RulesGallery.svelte';
import { samples } from './samples';
import ScreenPage from './ScreenPage.svelte';
import Controls from './widgets/Controls.svelte';
import Fields from './widgets/Fields.svelte';
import Places from './widgets/Places.svelte';
import Texts from './widgets/Texts.svelte';

/** A page that is looked at by itself. */
export interface GalleryPage {
  id: string;
  group: 'Widgets' | 'Cards' | 'Screens';
  title: string;
  /** Draws the page; the theme is for screens, which set their own. */
  draw: (target: HTMLElement, theme: Theme) => Record<string, unknown>;
}

function page<P extends Record<string, unknown>>(
  id: string,
  group: GalleryPage['group'],
  title: string,
  component: Component<P>,
  props: P,
): GalleryPage {
  return { id, group, title, draw: (target) => mount(component, { target, props }) };
}

/** A screen of the app: the recorded engine, the way to it, and what is pressed there. */
function screen(
  title: string,
  fake: string,
  go: (desk: Desk) => void = () => {},
  press: readonly string[] = [],
): GalleryPage {
  return {
    id: `screen-${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`,
    group: 'Screens',
    title,
    draw: (target, theme) => mount(ScreenPage, { target, props: { fake, theme, go, press } }),
  };
}

const isWaiting = (name: string): boolean => samples[name as keyof typeof samples].body.state === 'waiting';
const pick = (holds: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(samples).filter(([name]) => holds(name)));

export const pages: readonly GalleryPage[] = [
  page('controls', 'Widgets', 'Buttons, switches, menus', Controls, {}),
  page('fields', 'Widgets', 'Fields and forms', Fields, {}),
  page('texts', 'Widgets', 'Texts, code, output', Texts, {}),
  page('places', 'Widgets', 'Lists, pages, notices', Places, {}),
  page('waiting', 'Cards', 'Waiting', CardsGallery, { samples: pick(isWaiting) }),
  page('owner', 'Cards', 'Waiting, with the keys', CardsGallery, { samples: pick(isWaiting), owner: true }),
  page('settled', 'Cards', 'Running and settled', CardsGallery, { samples: pick((name) => !isWaiting(name)) }),
  page('opened', 'Cards', 'Settled, opened', CardsGallery, { samples: pick((name) => !isWaiting(name)), open: true }),
  page('effects', 'Cards', 'Effects of commands', CardsGallery, { samples: effectSamples, owner: true, open: true }),
  page('always', 'Cards', 'Always…', PickerGallery, {}),
  page('parts', 'Cards', 'Groups of calls, keys', PartsGallery, {}),
  page('inspector', 'Cards', 'Inspector', InspectorGallery, {}),
  screen('Start, a key is there', 'demo', (desk) => desk.navigation.go('start')),
  screen('Start, no key', 'empty'),
  screen('Start, no keychain', 'keyless', undefined, ['enter-key']),
  screen('Desk', 'demo', (desk) => desk.navigation.go('desk')),
  screen('Desk, nothing yet', 'empty', (desk) => desk.navigation.go('desk')),
  screen('Session with a diff', 'demo', (desk) => desk.navigation.show('ses_0006')),
  screen('Session with a command', 'demo', (desk) => desk.navigation.show('ses_0004')),
  screen('Session with a question', 'demo', (desk) => desk.navigation.show('ses_0005')),
  screen('Session with a deletion', 'demo', (desk) => desk.navigation.show('ses_0003')),
  screen('Session that is done', 'demo', (desk) => desk.navigation.show('ses_0001')),
  screen('Session that failed', 'demo', (desk) => desk.navigation.show('ses_0002')),
  screen('Session with everything', 'transcript', (desk) => desk.navigation.show('ses_words')),
  screen('Sub-agents and servers that ask', 'reach'),
  screen('Search', 'demo', (desk) => {
    desk.navigation.searchText = 'parse';
    desk.navigation.go('search');
  }),
  screen('History', 'demo', (desk) => desk.navigation.go('history')),
  page('history', 'Screens', 'History, every state', HistoryGallery, {}),
  screen('Rules', 'demo', (desk) => desk.navigation.go('rules')),
  page('rules', 'Screens', 'Rules, every state', RulesGallery, {}),
  screen('Tools', 'demo', (desk) => desk.navigation.go('tools')),
  screen('Servers', 'demo', (desk) => desk.navigation.go('servers')),
  screen('Connections', 'demo', (desk) => desk.navigation.go('connections')),
  ...SETTINGS_SECTIONS.map((section) =>
    screen(`Settings, ${section.replace('_', ' ')}`, 'demo', (desk) => desk.navigation.openSettings(section)),
  ),
];
