// Pictures: read from a browser's PNG, made smaller, and written as PNG files of few colours.

import { crc32, deflateSync } from 'node:zlib';
import { PNG } from 'pngjs';

/** A picture without transparency: three bytes for each pixel, row by row. */
export interface Picture {
  width: number;
  height: number;
  pixels: Uint8Array;
}

/** How far a channel of a pixel may be from what was photographed, so that a file has fewer colours. */
export const COLOUR_STEP = 8;

/** The most colours that a PNG file can list. */
const COLOURS_MAX = 256;

/** Reads a PNG of any kind. */
export function readPicture(png: Uint8Array): Picture {
  const { width, height, data } = PNG.sync.read(Buffer.from(png));
  const pixels = new Uint8Array(width * height * 3);
  for (let from = 0, to = 0; from < data.length; from += 4, to += 3) pixels.set(data.subarray(from, from + 3), to);
  return { width, height, pixels };
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

/** Colours of a file, and the place of each colour of the picture among them. */
interface Palette {
  colours: number[];
  indexOf: Map<number, number>;
}

/** Chooses the colours of a file: at most `COLOURS_MAX`, none of them farther than `step` from what it stands for. */
function choosePalette(pixels: Uint8Array, step: number): Palette {
  const counts = new Map<number, number>();
  for (let at = 0; at < pixels.length; at += 3) {
    const colour = colourAt(pixels, at);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  // Frequent colours, those of surfaces and lines, are kept as they are; rare ones, of the edges of letters, join a near one.
  const colours: number[] = [];
  const indexOf = new Map<number, number>();
  for (const [colour] of [...counts].sort((one, other) => other[1] - one[1])) {
    let index = colours.findIndex((kept) => isNear(kept, colour, step));
    if (index < 0) index = colours.push(colour) - 1;
    if (index === COLOURS_MAX) return choosePalette(pixels, step + 1);
    indexOf.set(colour, index);
  }
  return { colours, indexOf };
}

const colourAt = (pixels: Uint8Array, at: number): number =>
  (pixels[at]! << 16) | (pixels[at + 1]! << 8) | pixels[at + 2]!;

const isNear = (one: number, other: number, step: number): boolean =>
  Math.abs((one >> 16) - (other >> 16)) <= step &&
  Math.abs(((one >> 8) & 255) - ((other >> 8) & 255)) <= step &&
  Math.abs((one & 255) - (other & 255)) <= step;

/** Writes a picture as a PNG with a palette. */
export function writePicture({ width, height, pixels }: Picture): Uint8Array {
  const { colours, indexOf } = choosePalette(pixels, COLOUR_STEP);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits for each pixel, which is a number of the palette.
  header.set([8, 3, 0, 0, 0], 8);
  // Each row begins with its filter: none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0, from = 0; y < height; y += 1) {
    for (let to = y * (width + 1) + 1; to < (y + 1) * (width + 1); to += 1, from += 3) {
      rows[to] = indexOf.get(colourAt(pixels, from)) ?? 0;
    }
  }
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(colours.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]))),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** A part of a PNG file: its length, kind, data, and checksum. */
function chunk(kind: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(named, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}
