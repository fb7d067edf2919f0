// The measuring of contrast on a picture: colours, what a text stands on, and which texts are found.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import './rendered_contrast.js';

type Colour = [red: number, green: number, blue: number];
interface Pixels {
  width: number;
  height: number;
  data: Uint8ClampedArray;
}
interface Measures {
  contrastOf(one: Colour, other: Colour): number;
  groundOf(pixels: Pixels, box: { left: number; top: number; right: number; bottom: number }): Colour | null;
  inkOn(css: string, opacity: number, ground: Colour): Colour;
  findFaintTexts(pixels: Pixels): { at: string; text: string; contrast: number; needed: number }[];
}
const { contrastOf, groundOf, inkOn, findFaintTexts } = (globalThis as unknown as { renderedContrast: Measures })
  .renderedContrast;

const BLACK: Colour = [0, 0, 0];
const WHITE: Colour = [255, 255, 255];

/** A picture of one colour, with some pixels of another from the left on in every row. */
function paint(width: number, height: number, ground: Colour, ink: Colour, inked: number): Pixels {
  const data = new Uint8ClampedArray(width * height * 4);
  for (let at = 0; at < width * height; at += 1) data.set([...(at % width < inked ? ink : ground), 255], at * 4);
  return { width, height, data };
}

describe('colours', () => {
  test('the contrast is that of WCAG, in either order', () => {
    expect(contrastOf(BLACK, WHITE)).toBeCloseTo(21, 5);
    expect(contrastOf(WHITE, BLACK)).toBeCloseTo(21, 5);
    // The two greys next to 4.5 on white.
    expect(contrastOf([118, 118, 118], WHITE)).toBeGreaterThan(4.5);
    expect(contrastOf([119, 119, 119], WHITE)).toBeLessThan(4.5);
  });

  test('a text stands on the colour that most of its box has', () => {
    const pixels = paint(20, 4, [10, 20, 30], WHITE, 9);
    expect(groundOf(pixels, { left: 0, top: 0, right: 20, bottom: 4 })).toEqual([10, 20, 30]);
    expect(groundOf(pixels, { left: 0, top: 0, right: 9, bottom: 4 })).toEqual(WHITE);
    expect(groundOf(pixels, { left: 30, top: 0, right: 40, bottom: 4 })).toBeNull();
  });

  test('what is seen through an ink is mixed into it', () => {
    expect(inkOn('rgb(0, 0, 0)', 1, WHITE)).toEqual(BLACK);
    expect(inkOn('rgba(0, 0, 0, 0.5)', 1, WHITE)).toEqual([128, 128, 128]);
    expect(inkOn('rgba(0, 0, 0, 0.5)', 0.5, WHITE)).toEqual([191, 191, 191]);
  });
});

describe('texts', () => {
  const box = { left: 0, top: 0, right: 20, bottom: 4, width: 20, height: 4 } as DOMRect;
  /** The element on top of all others; none: each is on top where it is. */
  let top: Element | null = null;

  beforeEach(() => {
    top = null;
    Range.prototype.getClientRects = () => [box] as unknown as DOMRectList;
    document.elementFromPoint = () => top ?? document.body;
  });
  afterEach(() => {
    Reflect.deleteProperty(Range.prototype, 'getClientRects');
    Reflect.deleteProperty(document, 'elementFromPoint');
  });

  const page = (): Pixels => paint(innerWidth, 4, WHITE, WHITE, 0);
  const faint = (html: string): string[] => {
    document.body.innerHTML = html;
    const found = findFaintTexts(page()).map(({ text }) => text);
    document.body.replaceChildren();
    return found;
  };

  test('one with too little contrast is found once, with where it is and what is asked of it', () => {
    const text = '<p class="dim" style="color: rgb(150, 150, 150)">faint</p>';
    document.body.innerHTML = `<div data-testid="card">${text}${text}<p>plain</p></div>`;
    expect(findFaintTexts(page())).toEqual([
      expect.objectContaining({ at: 'p.dim in card', text: 'faint', contrast: 2.95, needed: 4.5 }),
    ]);
    document.body.replaceChildren();
  });

  test('large text needs less', () => {
    const style = 'color: rgb(140, 140, 140)';
    expect(faint(`<p style="${style}">small</p><p style="${style}; font-size: 24px">large</p>`)).toEqual(['small']);
    expect(faint(`<p style="${style}; font-size: 19px; font-weight: 700">bold</p>`)).toEqual([]);
    expect(faint(`<p style="${style}; font-size: 19px; font-weight: 400">plain</p>`)).toEqual(['plain']);
  });

  test('the opacity of everything around it counts', () => {
    expect(faint('<div style="opacity: 0.5"><p style="opacity: 0.8">pale</p></div>')).toEqual(['pale']);
  });

  test('nothing is asked of what cannot be used, is hidden, is cut off, or lies under something else', () => {
    const style = 'style="color: rgb(200, 200, 200)"';
    expect(faint(`<button disabled ${style}>off</button><p aria-disabled="true"><b ${style}>off</b></p>`)).toEqual([]);
    expect(faint('<p style="color: rgb(200, 200, 200); visibility: hidden">hidden</p>')).toEqual([]);
    expect(faint(`<div style="opacity: 0"><p ${style}>until it is pointed at</p></div>`)).toEqual([]);
    // jsdom lays nothing out: the box of the list is a point, beside that of its text.
    expect(faint(`<div style="overflow: auto"><p ${style}>scrolled away</p></div>`)).toEqual([]);
    top = document.createElement('div');
    expect(faint(`<p ${style}>covered</p>`)).toEqual([]);
  });
});
