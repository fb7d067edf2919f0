// The pictures of a run: what was photographed, its reference, what differs, and the page that shows them.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { comparePictures, isDifferent } from './comparison';
import { readPicture, shrinkPicture, writePicture, type Picture } from './picture';
import { readReference, writeReference, type Themed } from './reference';
import { writeIndex, type Shown } from './report';
import { THEMES, type Theme } from './selection';

const REFERENCES = resolve(import.meta.dirname, 'references');

/** A page in a width. */
export interface View {
  page: string;
  width: number;
  /** Themes that have a reference; none if the view is only looked at. */
  compared: readonly Theme[];
}

/** How much smaller a reference is than the page. */
export const SCALE = 3;

/** Path of a reference below the folder of all. */
const referenceOf = ({ page, width }: View): string => `${page}/${width}.png`;

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

  /** Keeps the pictures of a view, and compares those that have a reference. Returns what is wrong with them. */
  add(view: View, taken: Partial<Themed<Uint8Array>>): string[] {
    for (const theme of THEMES) {
      const png = taken[theme];
      if (png) this.#keep(view, theme, 'now', png);
    }
    if (view.compared.length === 0) return [];
    const now: Partial<Themed<Picture>> = {};
    for (const theme of view.compared) now[theme] = shrinkPicture(readPicture(taken[theme]!), SCALE);
    const file = join(REFERENCES, referenceOf(view));
    const wrong = existsSync(file) ? this.#compare(view, readReference(readFileSync(file)), now) : this.#addNew(view);
    if (!this.#accepts) return wrong;
    if (wrong.length > 0) writeFile(file, writeReference(now as Themed<Picture>));
    return [];
  }

  /** Returns the references that nothing is compared with; a run that accepts removes them. */
  findStale(views: readonly View[]): string[] {
    const wanted = new Set(views.filter(({ compared }) => compared.length > 0).map(referenceOf));
    const found = existsSync(REFERENCES) ? readdirSync(REFERENCES, { recursive: true, encoding: 'utf8' }) : [];
    const stale = found
      .map((name) => name.replaceAll('\\', '/'))
      .filter((name) => name.endsWith('.png') && !wanted.has(name));
    if (!this.#accepts) return stale;
    for (const name of stale) rmSync(join(REFERENCES, name));
    return [];
  }

  /** Writes the page that shows all pictures, and returns its path. */
  finish(): string {
    const index = join(this.#folder, 'index.html');
    writeFile(index, Buffer.from(writeIndex([...this.#shown.values()])));
    return index;
  }

  #addNew(view: View): string[] {
    for (const theme of view.compared) this.#show(view, theme, 'new');
    return [
      `${referenceOf(view)} is missing. Look at the page; \`cargo xtask gallery --accept\` keeps it as it is now.`,
    ];
  }

  #compare(view: View, reference: Themed<Picture>, now: Partial<Themed<Picture>>): string[] {
    return view.compared.flatMap((theme) => {
      const [before, after] = [reference[theme], now[theme]];
      if (!before || !after) return [`${referenceOf(view)} has no picture in ${theme}.`];
      this.#keep(view, theme, 'reference', writePicture(before));
      const difference = comparePictures(before, after);
      this.#show(view, theme, isDifferent(difference) ? 'different' : 'same');
      if (!isDifferent(difference)) {
        // A page that differed when it was first drawn may not the second time.
        rmSync(join(this.#folder, 'difference', nameOf(view, theme)), { force: true });
        return [];
      }
      const file = this.#keep(view, theme, 'difference', writePicture(difference.marked));
      const box = difference.box?.map((at) => at * SCALE).join(', ');
      return [`${file}: ${difference.count} pixels differ, within ${box} (left, top, right, bottom).`];
    });
  }

  /** Keeps a picture, and returns its file. */
  #keep(view: View, theme: Theme, kind: 'now' | 'reference' | 'difference', png: Uint8Array): string {
    const file = join(this.#folder, kind, nameOf(view, theme));
    writeFile(file, png);
    if (kind === 'now') this.#show(view, theme, 'not compared');
    return file;
  }

  #show(view: View, theme: Theme, state: Shown['state']): void {
    const name = nameOf(view, theme);
    this.#shown.set(name, { page: view.page, width: view.width, theme, name, state });
  }
}

const nameOf = ({ page, width }: View, theme: Theme): string => `${page}/${theme}-${width}.png`;
