// Compares a picture with its reference. Other versions of the font libraries smooth the edges of letters otherwise, so a pixel passes
// if its colour lies among those that the reference has there and beside it, or half of their contrast beyond them; and the other way
// round. A line that is gone, a button that moved, and a surface of another colour stand against no contrast, and do not pass.

import { findRange, type Picture } from './picture';

/** How far a channel of a pixel may be from its reference in any case. */
export const COLOUR_STEP = 4;

/** How many pixels may differ: fewer are no part of anything that a person could see. */
export const DIFFERING_PIXELS_MAX = 12;

/** How far beyond the colours around it a pixel may be, as a share of their contrast. */
const CONTRAST_SHARE = 0.5;

/** What differs between two pictures. */
export interface Difference {
  /** How many pixels differ. Of pictures that are not of one size, all do that one of them lacks. */
  count: number;
  /** The smallest box around them, as left, top, right, bottom; none if no pixel differs. */
  box: readonly [number, number, number, number] | null;
  /** The picture as it is now, fainter, with the pixels that differ in red. */
  marked: Picture;
}

/** Whether more differs than the drawing of letters explains. */
export const isDifferent = ({ count }: Difference): boolean => count > DIFFERING_PIXELS_MAX;

/** Compares two pictures, pixel by pixel. */
export function comparePictures(reference: Picture, now: Picture): Difference {
  const width = Math.max(reference.width, now.width);
  const height = Math.max(reference.height, now.height);
  const marked: Picture = { width, height, pixels: new Uint8Array(width * height * 3).fill(255) };
  let count = 0;
  let box: [number, number, number, number] | null = null;
  for (let y = 0, to = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, to += 3) {
      if (isExplained(reference, now, x, y) && isExplained(now, reference, x, y)) {
        const from = (y * now.width + x) * 3;
        for (let channel = 0; channel < 3; channel += 1) {
          marked.pixels[to + channel] = 170 + now.pixels[from + channel]! / 3;
        }
        continue;
      }
      marked.pixels.set([220, 0, 30], to);
      box = box ? [Math.min(box[0], x), box[1], Math.max(box[2], x), y] : [x, y, x, y];
      count += 1;
    }
  }
  return { count, box, marked };
}

/** Whether the colour of a pixel is explained by those that the other picture has there and beside it. */
function isExplained(one: Picture, other: Picture, x: number, y: number): boolean {
  if (x >= one.width || y >= one.height || x >= other.width || y >= other.height) return false;
  const at = (y * one.width + x) * 3;
  const same = (y * other.width + x) * 3;
  for (let channel = 0; channel < 3; channel += 1) {
    const value = one.pixels[at + channel]!;
    if (Math.abs(value - other.pixels[same + channel]!) <= COLOUR_STEP) continue;
    const { least, most } = findRange(other, x, y, channel);
    const slack = COLOUR_STEP + CONTRAST_SHARE * (most - least);
    if (value < least - slack || value > most + slack) return false;
  }
  return true;
}
