// The images that go with the next message of one session: read when they are added, and checked as the engine checks them.

import type { Content } from '../../ipc/bindings';
import type { Desk } from '../../state/desk.svelte';
import { bytes } from '../../widgets/figures';

/** Images of one message, as the engine has it. */
export const IMAGES_MAX = 20;
/** Bytes of one image, as the engine has it. */
export const IMAGE_BYTES_MAX = 3_750_000;
/** The types that models can be shown. */
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

/** Why a file that is no image is refused. */
export const notAType = () => 'only PNG, JPEG, GIF and WebP images, and files of the folder, can go with a message.';
const tooLarge = () => 'an image may have at most 3.75 MB.';
const tooMany = () => `a message takes at most ${IMAGES_MAX} images.`;
const notRead = () => 'no image could be read from there.';

type Image = Extract<Content, { type: 'image' }>;

/** An image that goes with the next message. */
export interface Chosen {
  /** Unique in its session. */
  id: number;
  name: string;
  blob: Blob;
  image: Image;
}

/** Files that were not added for the same reason. */
export interface LeftOut {
  names: readonly string[];
  why: string;
}

/** Takes a file that is no image; gives why it is refused, none if it was taken. */
type TakeFile = (file: File) => Promise<string | null>;

/** The images of one session's next message. */
export class Images {
  list: readonly Chosen[] = $state.raw([]);
  leftOut: readonly LeftOut[] = $state.raw([]);
  #last = 0;
  #adding = Promise.resolve();

  /**
   * Adds files in their order, after those that are still being read; files that are refused are listed in `leftOut`. A file
   * that is no image is handed to `takeOther`, which gives why it refuses it, none if it took it.
   */
  add(files: readonly File[], takeOther: TakeFile): Promise<void> {
    this.#adding = this.#adding.then(() => this.#add(files, takeOther));
    return this.#adding;
  }
  remove(id: number): void {
    this.list = this.list.filter((one) => one.id !== id);
    this.leftOut = [];
  }
  /** Takes all out, those that are still being read too. */
  async take(): Promise<readonly Chosen[]> {
    await this.#adding;
    const taken = this.list;
    [this.list, this.leftOut] = [[], []];
    return taken;
  }
  /** Puts images back, before those that were added since. */
  putBack(taken: readonly Chosen[]): void {
    this.list = [...taken, ...this.list];
  }

  async #add(files: readonly File[], takeOther: TakeFile): Promise<void> {
    const leftOut = new Map<string, string[]>();
    for (const file of files) {
      const name = file.name || 'The image';
      const image = await readImage(file);
      const other = image === notAType() ? await takeOther(file) : image;
      if (other === null) continue;
      const read = typeof other !== 'string' && this.list.length >= IMAGES_MAX ? tooMany() : other;
      if (typeof read !== 'string') this.list = [...this.list, { id: ++this.#last, name, blob: file, image: read }];
      else
        leftOut.set(read, [...(leftOut.get(read) ?? []), read === tooLarge() ? `${name} (${bytes(file.size)})` : name]);
    }
    this.leftOut = [...leftOut].map(([why, names]) => ({ why, names }));
  }
}

/** A file as the engine takes it, or why it would not. */
async function readImage(file: File): Promise<Image | string> {
  try {
    const mime = typeOf(await base64Of(file.slice(0, 12)));
    if (mime === null) return notAType();
    if (file.size > IMAGE_BYTES_MAX) return tooLarge();
    // One that is damaged would fail every request from then on.
    (await createImageBitmap(file)).close();
    return { type: 'image', mime, base64: await base64Of(file) };
  } catch {
    return notRead();
  }
}

/** The type of an image by its first twelve bytes, as the engine finds it; none if it is of no type that models can be shown. */
function typeOf(start: string): Image['mime'] | null {
  const head = atob(start);
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif';
  return head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP' ? 'image/webp' : null;
}

function base64Of(blob: Blob): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result).split(',')[1] ?? '');
    reader.onerror = () => failed(reader.error ?? new Error('not read'));
    reader.readAsDataURL(blob);
  });
}

const memory = new WeakMap<Desk, Map<string, Images>>();

/** The images of a session's next message, kept for as long as the window is open. */
export function imagesOf(desk: Desk, session: string): Images {
  const all = memory.get(desk) ?? new Map<string, Images>();
  memory.set(desk, all);
  const images = all.get(session) ?? new Images();
  all.set(session, images);
  return images;
}
