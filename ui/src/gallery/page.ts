// A page of the gallery: a component with its samples, or a screen of the whole app.

import { mount, type Component } from 'svelte';
import type { Theme } from '../ipc/bindings';
import type { FakeHost } from '../ipc/fake';
import type { Desk } from '../state/desk.svelte';
import type { Step } from './press';
import ScreenPage from './ScreenPage.svelte';

/** A page that is looked at by itself. */
export interface GalleryPage {
  /** Its address: `gallery.html?page=ID`. */
  id: string;
  group: string;
  title: string;
  /** Draws the page; the theme is for screens, which set their own. */
  draw: (target: HTMLElement, theme: Theme) => Record<string, unknown>;
}

/** A page of one component, which is its own layout. */
export function componentPage<P extends Record<string, unknown>>(
  named: Omit<GalleryPage, 'draw'>,
  component: Component<P>,
  props: P,
): GalleryPage {
  return { ...named, draw: (target) => mount(component, { target, props }) };
}

/** How a screen of the app is reached. */
export interface Way {
  /** Name of the recorded engine, as in `?fake=NAME`. */
  fake?: string;
  /** Prepares the recorded engine. */
  prepare?: (host: FakeHost) => void;
  /** Goes to the screen. */
  go?: (desk: Desk) => void | Promise<void>;
  /** What is pressed and written there. */
  steps?: readonly Step[];
}

/** A page of the whole app. */
export function screenPage(group: string, title: string, way: Way): GalleryPage {
  return {
    id: `screen-${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`,
    group,
    title,
    draw: (target, theme) => mount(ScreenPage, { target, props: { theme, way } }),
  };
}
