// Says when a page has come to rest: its buttons pressed, its fonts and pictures there, and nothing about to change any more.

import { pressed } from './press';
import { quiet } from './quiet';

/** Resolves once the page is drawn as it stays. */
export async function settled(): Promise<void> {
  await pressed();
  await document.fonts.ready;
  await Promise.all([...document.images].map((image) => image.decode().catch(() => undefined)));
  await quiet();
}
