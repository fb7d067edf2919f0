// References: pictures of a page that a person accepted, small enough to be kept with the code.
//
// A reference is a PNG of at most 256 colours, which any program shows. A theme changes colours and nothing else, so both pictures of
// a page are one file: the number of a pixel's colour stands in it once, and each theme has a palette. Other programs leave out the
// second one, of the dark theme.

import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { COLOUR_STEP } from './comparison';
import { findRange, type Picture } from './picture';

/** What a page looks like in the themes that it was photographed in. */
export interface Themed<T> {
  light: T;
  dark?: T;
}

/** The most colours that a PNG can list. */
const COLOURS_MAX = 256;

/** How far a colour may be from what was photographed, as a share of the contrast around it: half of what the comparison allows. */
const CONTRAST_SHARE = 0.25;

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** Eight bits for each pixel, which is a number of the palette; rows are not interlaced. */
const KIND = [8, 3, 0, 0, 0];
/** The chunk with the palette of the dark theme: no other program needs it or knows it. */
const DARK_PALETTE = 'drKP';

/** A colour in all themes. */
interface Colour {
  /** Its channels in the first theme, then those in the second. */
  channels: number[];
  /** How far each channel may be from that. */
  slack: number[];
  /** How many pixels have it. */
  count: number;
}

/** Writes a reference. Of both themes, pictures have to be of one size. */
export function writeReference({ light, dark }: Themed<Picture>): Uint8Array {
  const { width, height } = light;
  const themes = dark ? [light, dark] : [light];
  const keys = listKeys(themes);
  const { palette, indexOf } = choosePalette(countColours(themes, keys), 1);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set(KIND, 8);
  // Each row begins with its filter: none.
  const rows = Buffer.alloc((width + 1) * height);
  keys.forEach((key, at) => (rows[at + Math.floor(at / width) + 1] = indexOf.get(key) ?? 0));
  const paletteOf = (theme: number): Buffer =>
    Buffer.from(palette.flatMap(({ channels }) => channels.slice(theme * 3, theme * 3 + 3)));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', paletteOf(0)),
    ...(dark ? [chunk(DARK_PALETTE, paletteOf(1))] : []),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Reads a reference. */
export function readReference(png: Uint8Array): Themed<Picture> {
  const chunks = readChunks(Buffer.from(png));
  const [header, palette, data] = ['IHDR', 'PLTE', 'IDAT'].map((kind) => chunks.get(kind));
  if (!header || !palette || !data || !header.subarray(8).equals(Buffer.from(KIND))) {
    throw new Error(
      'The gallery did not write this file. `cargo xtask gallery --accept` does, once the file is removed.',
    );
  }
  const width = header.readUInt32BE(0);
  const height = header.readUInt32BE(4);
  const rows = inflateSync(data);
  const paint = (colours: Buffer): Picture => {
    const pixels = new Uint8Array(width * height * 3);
    for (let at = 0; at < width * height; at += 1) {
      const colour = rows[at + Math.floor(at / width) + 1]! * 3;
      pixels.set(colours.subarray(colour, colour + 3), at * 3);
    }
    return { width, height, pixels };
  };
  const dark = chunks.get(DARK_PALETTE);
  return dark ? { light: paint(palette), dark: paint(dark) } : { light: paint(palette) };
}

/** Returns for each pixel a number that stands for its colour in all themes. */
function listKeys(themes: readonly Picture[]): Float64Array {
  const count = themes[0]!.width * themes[0]!.height;
  return Float64Array.from({ length: count }, (_, at) => {
    let key = 0;
    for (const { pixels } of themes) {
      for (let channel = 0; channel < 3; channel += 1) key = key * 256 + pixels[at * 3 + channel]!;
    }
    return key;
  });
}

function countColours(themes: readonly Picture[], keys: Float64Array): Map<number, Colour> {
  const colours = new Map<number, Colour>();
  const width = themes[0]!.width;
  keys.forEach((key, at) => {
    const [x, y] = [at % width, Math.floor(at / width)];
    const known = colours.get(key);
    if (known) known.count += 1;
    // A surface, of which most pixels are.
    if (known?.slack.every((slack) => slack === COLOUR_STEP)) return;
    const slack = themes.flatMap((picture) =>
      [0, 1, 2].map((channel) => {
        const { least, most } = findRange(picture, x, y, channel);
        return Math.max(COLOUR_STEP, CONTRAST_SHARE * (most - least));
      }),
    );
    if (known) {
      known.slack = known.slack.map((least, channel) => Math.min(least, slack[channel]!));
      return;
    }
    const channels = themes.flatMap(({ pixels }) => [...pixels.subarray(at * 3, at * 3 + 3)]);
    colours.set(key, { channels, slack, count: 1 });
  });
  return colours;
}

/** The colours of a file, and the number of each colour of the pictures among them. */
interface Palette {
  palette: Colour[];
  indexOf: Map<number, number>;
}

/** Chooses the colours of a file. Where there are too many, each may be farther from what was photographed. */
function choosePalette(colours: ReadonlyMap<number, Colour>, stretch: number): Palette {
  // Frequent colours, those of surfaces and lines, are kept as they are; rare ones, of the edges of letters, join the nearest.
  const palette: Colour[] = [];
  const indexOf = new Map<number, number>();
  for (const [key, colour] of [...colours].sort(([, one], [, other]) => other.count - one.count)) {
    let index = findNearest(palette, colour, stretch);
    if (index < 0) index = palette.push(colour) - 1;
    if (index === COLOURS_MAX) return choosePalette(colours, stretch * 1.25);
    indexOf.set(key, index);
  }
  return { palette, indexOf };
}

function findNearest(palette: readonly Colour[], { channels, slack }: Colour, stretch: number): number {
  let nearest = -1;
  let least = Infinity;
  palette.forEach((kept, index) => {
    let distance = 0;
    for (const [channel, value] of channels.entries()) {
      const apart = Math.abs(kept.channels[channel]! - value);
      if (apart > slack[channel]! * stretch) return;
      distance += apart;
    }
    if (distance < least) [nearest, least] = [index, distance];
  });
  return nearest;
}

/** A part of a PNG: its length, kind, data, and checksum. */
function chunk(kind: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(data.length, 0);
  framed.set(named, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}

/** Returns the data of each chunk by its kind. */
function readChunks(png: Buffer): Map<string, Buffer> {
  const chunks = new Map<string, Buffer>();
  for (let at = SIGNATURE.length; at + 12 <= png.length;) {
    const end = at + 8 + png.readUInt32BE(at);
    chunks.set(png.toString('latin1', at + 4, at + 8), png.subarray(at + 8, end));
    at = end + 4;
  }
  return chunks;
}
