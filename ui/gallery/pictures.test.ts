// Photographs the pages of the gallery and compares each picture with its reference. A person who asks for it is shown every page in
// both themes and three widths.

import { resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { WIDTHS } from '../src/gallery/widths';
import { Album, type View } from './album';
import { HEIGHT_MAX } from './browser';
import { BROWSERS } from './browsers';
import type { Themed } from './reference';
import { listComparedThemes, THEMES } from './selection';
import { openStudio, type FramedPage } from './studio';

const FOLDER = resolve(import.meta.dirname, process.env['COUNTERSIGN_GALLERY'] ?? '../../target/gallery');
/** Whether pictures that have no reference are taken as well, to be looked at. */
const takesAll = process.env['COUNTERSIGN_GALLERY_ALL'] === '1';
const album = new Album(FOLDER, process.env['COUNTERSIGN_GALLERY_ACCEPT'] === '1');
const studio = await openStudio(BROWSERS);

afterAll(() => {
  studio.close();
  console.log(`Pictures: ${album.finish()}`);
});

const viewsOf = (page: (typeof studio.pages)[number]): View[] =>
  WIDTHS.map((width) => ({ page: page.id, width, compared: listComparedThemes(page, width, studio.pages) }));

/** Photographs a view, and returns what is wrong with it. */
async function photograph(page: FramedPage, view: View): Promise<string[]> {
  const taken: Partial<Themed<Uint8Array>> = {};
  for (const theme of takesAll ? THEMES : view.compared) taken[theme] = await page.photograph(theme);
  const wrong = [...album.add(view, taken), ...(await page.findFaults())];
  if (page.height <= HEIGHT_MAX) return wrong;
  return [...wrong, `${view.page} is ${page.height} pixels high at ${view.width}. Make several pages of it.`];
}

describe('a page looks as its references do', () => {
  test.concurrent.each(studio.pages)('$id', async (shown) => {
    const views = viewsOf(shown).filter(({ compared }) => takesAll || compared.length > 0);
    const wrong: string[] = [];
    for (const view of views)
      wrong.push(...(await studio.withPage(shown.id, view.width, (page) => photograph(page, view))));
    expect(wrong).toEqual([]);
  });
});

test('nothing is kept that no page is compared with', () => {
  expect(album.findStale(studio.pages.flatMap(viewsOf))).toEqual([]);
});
