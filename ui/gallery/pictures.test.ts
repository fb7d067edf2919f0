// Photographs the pages of the gallery and compares each picture with its reference. A person who asks for it is shown every page in
// both themes and three widths.

import { resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { WIDTHS } from '../src/gallery/widths';
import { Album, type View } from './album';
import { HEIGHT_MAX } from './browser';
import { BROWSERS } from './browsers';
import { listComponents, NOT_SHOWN } from './components';
import type { Themed } from './reference';
import { listComparedThemes, THEMES } from './selection';
import { openStudio, type FramedPage } from './studio';

const FOLDER = resolve(import.meta.dirname, process.env['COUNTERSIGN_GALLERY'] ?? '../../target/gallery');
/** Whether pictures that have no reference are taken as well, to be looked at. */
const takesAll = process.env['COUNTERSIGN_GALLERY_ALL'] === '1';
const album = new Album(FOLDER, process.env['COUNTERSIGN_GALLERY_ACCEPT'] === '1');
const studio = await openStudio(BROWSERS);
/** Components that stood on a page when it was photographed. */
const shown = new Set<string>();
/** Pages by what was wrong with them when they were drawn last, and the time before. */
const drawn = new Map<string, { wrong: string[]; before: string[] }>();

afterAll(() => {
  studio.close();
  for (const [id, { wrong, before }] of drawn) {
    if (wrong.length === 0 && before.length > 0)
      console.log(`${id} differed, and did not when it was drawn once more: ${before.join(' ')}`);
  }
  console.log(`Pictures: ${album.finish()}`);
});

const viewsOf = (page: (typeof studio.pages)[number]): View[] =>
  WIDTHS.map((width) => ({ page: page.id, width, compared: listComparedThemes(page, width, studio.pages) }));

/** Photographs a view, and returns what is wrong with it. */
async function photograph(page: FramedPage, view: View): Promise<string[]> {
  const taken: Partial<Themed<Uint8Array>> = {};
  for (const theme of takesAll ? THEMES : view.compared) taken[theme] = await page.photograph(theme);
  for (const component of await page.listMounted()) shown.add(component);
  const wrong = [...album.add(view, taken), ...(await page.findFaults())];
  if (page.height <= HEIGHT_MAX) return wrong;
  return [...wrong, `${view.page} is ${page.height} pixels high at ${view.width}. Make several pages of it.`];
}

describe('a page looks as its references do', () => {
  test.concurrent.each(studio.pages)('$id', async (page) => {
    const views = viewsOf(page).filter(({ compared }) => takesAll || compared.length > 0);
    const wrong: string[] = [];
    for (const view of views)
      wrong.push(...(await studio.withPage(page.id, view.width, (framed) => photograph(framed, view))));
    drawn.set(page.id, { wrong, before: drawn.get(page.id)?.wrong ?? [] });
    expect(wrong).toEqual([]);
  });
});

test('every component stands on some page, but for those with a reason', () => {
  const missing = listComponents().filter((component) => !shown.has(component));
  expect(missing.sort()).toEqual(Object.keys(NOT_SHOWN).sort());
});

test('nothing is kept that no page is compared with', () => {
  expect(album.findStale(studio.pages.flatMap(viewsOf))).toEqual([]);
});
