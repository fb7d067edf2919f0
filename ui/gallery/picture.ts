// Pictures: read from a browser's PNG, made smaller, and written as PNG.

import { PNG } from 'pngjs';

/** A picture without transparency: three bytes for each pixel, row by row. */
export interface Picture {
  width: number;
  height: number;
  pixels: Uint8Array;
}

/** Reads a PNG of any kind. */
export function readPicture(png: Uint8Array): Picture {
  const { width, height, data } = PNG.sync.read(Buffer.from(png));
  const pixels = new Uint8Array(width * height * 3);
  for (let from = 0, to = 0; from < data.length; from += 4, to += 3) pixels.set(data.subarray(from, from + 3), to);
  return { width, height, pixels };
}

/** Writes a PNG of all colours. */
export function writePicture({ width, height, pixels }: Picture): Uint8Array {
  const png = new PNG({ width, height, inputColorType: 2, inputHasAlpha: false, colorType: 2 });
  png.data = Buffer.from(pixels);
  return PNG.sync.write(png, { inputColorType: 2, inputHasAlpha: false, colorType: 2 });
}

/** Makes a picture smaller: each pixel is the mean of a square of so many. */
export function shrinkPicture({ width, height, pixels }: Picture, by: number): Picture {
  const small = { width: Math.floor(width / by), height: Math.floor(height / by) };
  const shrunk = new Uint8Array(small.width * small.height * 3);
  const sum = [0, 0, 0];
  let to = 0;
  for (let y = 0; y < small.height; y += 1) {
    for (let x = 0; x < small.width; x += 1) {
      sum.fill(0);
      for (let row = y * by; row < (y + 1) * by; row += 1) {
        let from = (row * width + x * by) * 3;
        for (let column = 0; column < by; column += 1) {
          for (let channel = 0; channel < 3; channel += 1) sum[channel]! += pixels[from++]!;
        }
      }
      for (const channel of sum) shrunk[to++] = Math.round(channel / (by * by));
    }
  }
  return { ...small, pixels: shrunk };
}

/** The least and the most that a channel has at a pixel and beside it. */
export interface Range {
  least: number;
  most: number;
}

/** Returns the range of a channel around a pixel. */
export function findRange({ width, height, pixels }: Picture, x: number, y: number, channel: number): Range {
  let least = 255;
  let most = 0;
  for (let row = Math.max(0, y - 1); row <= Math.min(height - 1, y + 1); row += 1) {
    for (let column = Math.max(0, x - 1); column <= Math.min(width - 1, x + 1); column += 1) {
      const near = pixels[(row * width + column) * 3 + channel]!;
      least = Math.min(least, near);
      most = Math.max(most, near);
    }
  }
  return { least, most };
}
