// The tolerance of the comparison, in both directions, on pictures of real pages: what a person would not see passes, and what is
// gone, moved or recoloured does not.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { SCALE } from './album';
import { comparePictures, isDifferent } from './comparison';
import { readPicture, shrinkPicture, type Picture } from './picture';
import { readReference, writeReference, type Themed } from './reference';
import { THEMES, type Theme } from './selection';
import { openStudio, type FramedPage, type Studio } from './studio';

/** Width of the window in these tests. */
const WIDTH = 1080;
const PAGE = 'screen-session-with-a-diff';

let studio: Studio;
/** The page as it is. */
let whole: Themed<Picture>;
/** What is kept of it. */
let reference: Themed<Picture>;

/** Spreads each pixel a little to its left and right, as another smoothing of letters does. */
function soften({ width, height, pixels }: Picture): Picture {
  const softened = Uint8Array.from(pixels, (value, at) => {
    const column = Math.floor(at / 3) % width;
    if (column === 0 || column === width - 1) return value;
    return Math.round(0.7 * value + 0.15 * (pixels[at - 3]! + pixels[at + 3]!));
  });
  return { width, height, pixels: softened };
}

async function photograph(theme: Theme, change?: string): Promise<Picture> {
  return studio.withPage(PAGE, WIDTH, async (page: FramedPage) => {
    if (change) {
      await page.browser.run(
        `const page = document.querySelector('iframe').contentDocument; ${change}; arguments[0](null);`,
      );
    }
    return readPicture(await page.photograph(theme));
  });
}

const compare = (theme: Theme, now: Picture) => comparePictures(reference[theme]!, shrinkPicture(now, SCALE));

beforeAll(async () => {
  studio = await openStudio(1);
  whole = { light: await photograph('light'), dark: await photograph('dark') };
  const small = { light: shrinkPicture(whole.light, SCALE), dark: shrinkPicture(whole.dark!, SCALE) };
  reference = readReference(writeReference(small));
});
afterAll(() => studio.close());

const find = (testid: string): string => `page.querySelector('[data-testid="${testid}"]')`;

test.each(THEMES)('a page that did not change passes in %s, though its reference has fewer colours', async (theme) => {
  expect(compare(theme, await photograph(theme)).count).toBe(0);
});

test.each(THEMES)('letters whose edges are smoothed more pass in %s', (theme) => {
  const softened = soften(whole[theme]!);
  expect(Buffer.compare(softened.pixels, whole[theme]!.pixels)).not.toBe(0);
  expect(isDifferent(compare(theme, softened))).toBe(false);
});

test.each([
  ['a button that moved by four pixels', `${find('allow')}.style.translate = '4px'`],
  ['a button that is gone', `${find('reject')}.style.visibility = 'hidden'`],
  ['another colour of the accent', `page.documentElement.style.setProperty('--accent', '#2a6f96')`],
  ['another surface', `page.documentElement.style.setProperty('--bg-surface', '#f2f2f2')`],
  ['a line that is gone', `page.querySelector('header').style.borderColor = 'transparent'`],
  ['a text that is one word longer', `${find('rail-desk')}.append(' now')`],
])('%s does not pass', async (_, change) => {
  expect(isDifferent(compare('light', await photograph('light', change)))).toBe(true);
});

test.each([
  ['another surface', '--bg-surface: #2b2e31'],
  ['another colour of the accent', '--accent: #86c3df'],
])('%s in the dark theme alone does not pass', async (_, change) => {
  const colours = `page.styleSheets[0].insertRule(':root[data-theme="dark"] { ${change} !important; }')`;
  expect(isDifferent(compare('light', await photograph('light', colours)))).toBe(false);
  expect(isDifferent(compare('dark', await photograph('dark', colours)))).toBe(true);
});
