// The gallery: every page is drawn and accessible, and nothing is missing from it.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import { unmount } from 'svelte';
import { describe, expect, test } from 'vitest';
import { loadAll } from '../app/routes.svelte';
import { callStates } from '../domain/states';
import { findSeriousFaults } from '../testing/accessibility';
import Browser from './Browser.svelte';
import { effectSamples } from './effect_samples';
import { pages } from './pages';
import { samples } from './samples';

await loadAll();
const root = resolve(import.meta.dirname, '..');

/** The import of a component: a name in capitals, which the modules of Svelte do not have. */
const COMPONENT = /import [A-Z]\w*(?:, \{[^}]*\})? from '(\.[^']+\.svelte)'/g;

/** Svelte files that a file draws, or imports to draw, at any remove. */
function drawnFrom(file: string, found = new Set<string>()): Set<string> {
  for (const [, path = ''] of readFileSync(join(root, file), 'utf8').matchAll(COMPONENT)) {
    const target = relative(root, resolve(root, dirname(file), path)).replaceAll('\\', '/');
    if (found.has(target)) continue;
    found.add(target);
    drawnFrom(target, found);
  }
  return found;
}
const componentsIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.svelte'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`);
/** What is drawn apart from the whole app. */
const apart = new Set(
  componentsIn('gallery')
    .filter((name) => name !== 'gallery/ScreenPage.svelte')
    .flatMap((name) => [...drawnFrom(name)]),
);

/** Parts that only the Rules draw, whose pages are the whole app. */
const OF_RULES = ['domain/ImportFile.svelte', 'domain/RuleLine.svelte'];

describe('nothing is missing', () => {
  test('every widget stands on a page of widgets', () => {
    const drawn = new Set(componentsIn('gallery/widgets').flatMap((name) => [...drawnFrom(name)]));
    expect(componentsIn('widgets').filter((name) => !drawn.has(name))).toEqual([]);
  });

  test('every part of the domain but those of the Rules is drawn by a page that is not the whole app', () => {
    expect(componentsIn('domain').filter((name) => !apart.has(name))).toEqual(OF_RULES);
  });

  test('every state of a call has a sample', () => {
    const bodies = [...Object.values(samples), ...Object.values(effectSamples)].map(({ body }) => body);
    const states = new Set<string>(bodies.map(({ state }) => state));
    expect(Object.keys(callStates).filter((state) => !states.has(state))).toEqual([]);
  });

  test('no two pages have one id', () => {
    const ids = pages.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('every page is drawn, without a serious fault', () => {
  test.each(pages.map((page) => [page.id, page] as const))('%s', async (_, page) => {
    document.title = 'Gallery';
    const target = document.createElement('div');
    document.body.append(target);
    const drawn = page.draw(target, 'light');
    await waitFor(() => expect(target.querySelector('main')?.textContent?.trim()).toBeTruthy());
    expect(await findSeriousFaults()).toEqual([]);
    await unmount(drawn);
    target.remove();
  });
});

test('pages are leafed through, in both themes and three widths', async () => {
  const frame = () => screen.getByTestId('frame');
  render(Browser, { pages });
  expect([frame().getAttribute('src'), frame().className]).toEqual([
    `/gallery.html?page=${pages[0]?.id}&theme=light`,
    expect.stringContaining('w1080'),
  ]);
  await fireEvent.click(screen.getByTestId('next'));
  await fireEvent.click(screen.getByRole('button', { name: 'Dark' }));
  await fireEvent.click(screen.getByRole('button', { name: '760 × 900' }));
  expect([frame().getAttribute('src'), frame().className]).toEqual([
    `/gallery.html?page=${pages[1]?.id}&theme=dark`,
    expect.stringContaining('w760'),
  ]);
  expect(location.hash).toBe(`#${pages[1]?.id}/dark/760`);
  history.replaceState(null, '', location.pathname);
});
