// The pictures of a run: what was photographed, its reference, what differs, and the page that shows them.

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { comparePictures, isDifferent } from './comparison';
import { readPicture, shrinkPicture, writePicture } from './picture';
import { writeIndex, type Shown } from './report';

const REFERENCES = resolve(import.meta.dirname, 'references');

/** One picture of a page. */
export interface Shot {
  page: string;
  theme: 'light' | 'dark';
  width: number;
}

/** How much smaller a reference is than the page. */
const SCALE = 2;

/**
 * Whether a picture has a reference. The width decides where things are and the theme what colour they have, so dark pictures at
 * other widths than the middle one would say nothing that the others do not.
 */
export const hasReference = ({ theme, width }: Shot): boolean => theme === 'light' || width === 1080;

const nameOf = ({ page, theme, width }: Shot): string => `${page}/${theme}-${width}.png`;

function writeFile(file: string, bytes: Uint8Array): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
}

/** The pictures of one run, in a folder that a person can leaf through. */
export class Album {
  readonly #folder: string;
  readonly #accepts: boolean;
  readonly #shown = new Map<string, Shown>();

  /** Begins a run in an empty folder. One that accepts makes what it sees the references. */
  constructor(folder: string, accepts: boolean) {
    this.#folder = folder;
    this.#accepts = accepts;
    rmSync(folder, { recursive: true, force: true });
  }

  /** Keeps a picture, and compares it with its reference if it has one. Returns what is wrong with it, if anything. */
  add(shot: Shot, png: Uint8Array): string | null {
    const name = nameOf(shot);
    writeFile(join(this.#folder, 'now', name), png);
    const show = (state: Shown['state']): void => void this.#shown.set(name, { ...shot, name, state });
    if (!hasReference(shot)) {
      show('not compared');
      return null;
    }
    const now = shrinkPicture(readPicture(png), SCALE);
    const reference = join(REFERENCES, name);
    if (!existsSync(reference)) {
      show('new');
      if (this.#accepts) writeFile(reference, writePicture(now));
      return null;
    }
    this.#copyReference(name);
    const difference = comparePictures(readPicture(readFileSync(reference)), now);
    if (!isDifferent(difference)) {
      show('same');
      return null;
    }
    show('different');
    writeFile(join(this.#folder, 'difference', name), writePicture(difference.marked));
    if (this.#accepts) {
      writeFile(reference, writePicture(now));
      return null;
    }
    const box = difference.box?.map((at) => at * SCALE).join(', ');
    return `${name}: ${difference.count} pixels differ, within ${box} (left, top, right, bottom).`;
  }

  /** Returns the references of pages that do not exist; a run that accepts removes them. */
  findStale(pages: readonly string[]): string[] {
    const folders = existsSync(REFERENCES) ? readdirSync(REFERENCES) : [];
    const stale = folders.filter((folder) => !pages.includes(folder));
    if (!this.#accepts) return stale;
    for (const folder of stale) rmSync(join(REFERENCES, folder), { recursive: true });
    return [];
  }

  /** Writes the page that shows all pictures, and returns its path. */
  finish(): string {
    const index = join(this.#folder, 'index.html');
    writeFile(index, Buffer.from(writeIndex([...this.#shown.values()])));
    return index;
  }

  #copyReference(name: string): void {
    const copy = join(this.#folder, 'reference', name);
    mkdirSync(dirname(copy), { recursive: true });
    copyFileSync(join(REFERENCES, name), copy);
  }
}
