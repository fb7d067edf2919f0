// The tolerance of the comparison, in both directions, on pictures of real pages: what a person would not see passes, and what is
// gone, moved or recoloured does not.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { HEIGHT } from '../src/gallery/widths';
import { comparePictures, isDifferent } from './comparison';
import { readPicture, shrinkPicture, writePicture, type Picture } from './picture';
import { openStudio, type FramedPage, type Studio } from './studio';

/** Width of the window in these tests, and how much smaller pictures are than what was photographed. */
const WIDTH = 1080;
const SCALE = 2;
const PAGE = 'screen-session-with-a-diff';

let studio: Studio;
/** The page as it is. */
let whole: Picture;
/** The same as a reference: with the colours of a file. */
let reference: Picture;

/** Spreads each pixel a little to its left and right, as another smoothing of letters does. */
function soften({ width, height, pixels }: Picture): Picture {
  const softened = Uint8Array.from(pixels, (value, at) => {
    const column = Math.floor(at / 3) % width;
    if (column === 0 || column === width - 1) return value;
    return Math.round(0.7 * value + 0.15 * (pixels[at - 3]! + pixels[at + 3]!));
  });
  return { width, height, pixels: softened };
}

async function photograph(change?: string): Promise<Picture> {
  return studio.withPage(PAGE, async (page: FramedPage) => {
    await page.resize(WIDTH, HEIGHT);
    if (change) {
      await page.browser.run(
        `const page = document.querySelector('iframe').contentDocument; ${change}; arguments[0](null);`,
      );
    }
    return readPicture(await page.photograph('light'));
  });
}

/** Whether the page differs from its reference once this was done to it. */
async function differs(change: string): Promise<boolean> {
  return isDifferent(comparePictures(reference, shrinkPicture(await photograph(change), SCALE)));
}

beforeAll(async () => {
  studio = await openStudio(1);
  whole = await photograph();
  reference = readPicture(writePicture(shrinkPicture(whole, SCALE)));
});
afterAll(() => studio.close());

const find = (testid: string): string => `page.querySelector('[data-testid="${testid}"]')`;

test('a page that did not change passes, though its reference has fewer colours', async () => {
  expect(comparePictures(reference, shrinkPicture(await photograph(), SCALE)).count).toBe(0);
});

test('letters whose edges are smoothed more pass', () => {
  const softened = shrinkPicture(soften(whole), SCALE);
  expect(Buffer.compare(softened.pixels, shrinkPicture(whole, SCALE).pixels)).not.toBe(0);
  expect(isDifferent(comparePictures(reference, softened))).toBe(false);
});

test.each([
  ['a button that moved by four pixels', `${find('allow')}.style.translate = '4px'`],
  ['a button that is gone', `${find('reject')}.style.visibility = 'hidden'`],
  ['another colour of the accent', `page.documentElement.style.setProperty('--accent', '#2a6f96')`],
  ['another surface', `page.documentElement.style.setProperty('--bg-surface', '#f2f2f2')`],
  ['a line that is gone', `page.querySelector('header').style.borderColor = 'transparent'`],
  ['a text that is one word longer', `${find('rail-desk')}.append(' now')`],
])('%s does not pass', async (_, change) => {
  expect(await differs(change)).toBe(true);
});
