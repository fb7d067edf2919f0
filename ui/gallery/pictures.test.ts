// Photographs every page of the gallery in both themes and three widths, and compares each picture with its reference.

import { resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { HEIGHT, WIDTHS } from '../src/gallery/widths';
import { Album, hasReference, type Shot } from './album';
import { HEIGHT_MAX } from './browser';
import { BROWSERS } from './browsers';
import { openStudio } from './studio';

const FOLDER = resolve(import.meta.dirname, process.env['COUNTERSIGN_GALLERY'] ?? '../../target/gallery');
/** Whether pictures that have no reference are taken as well, to be looked at. */
const takesAll = process.env['COUNTERSIGN_GALLERY_ALL'] === '1';
const album = new Album(FOLDER, process.env['COUNTERSIGN_GALLERY_ACCEPT'] === '1');
const studio = await openStudio(BROWSERS);

afterAll(() => {
  studio.close();
  console.log(`Pictures: ${album.finish()}`);
});

describe('a page looks as its references do', () => {
  test.concurrent.each(studio.pages)('$id', async ({ id }) => {
    const wrong = await studio.withPage(id, async (page) => {
      const found: (string | null)[] = [];
      for (const width of WIDTHS) {
        const height = await page.resize(width, HEIGHT);
        if (height > HEIGHT_MAX) found.push(`${id} is ${height} pixels high at ${width}. Make several pages of it.`);
        for (const theme of ['light', 'dark'] as const) {
          const shot: Shot = { page: id, theme, width };
          if (takesAll || hasReference(shot)) found.push(album.add(shot, await page.photograph(theme)));
        }
      }
      return [...found, ...(await page.findFaults())];
    });
    expect(wrong.filter((one) => one !== null)).toEqual([]);
  });
});

test('every reference is one of a page', () => {
  expect(album.findStale(studio.pages.map(({ id }) => id))).toEqual([]);
});
