// Says when a page has come to rest: its buttons pressed, its fonts and pictures there, and nothing drawn any more.

import { pressed } from './press';

/** How long nothing may change until a page counts as drawn. */
const QUIET_MS = 100;

/** Resolves once nothing has changed in the page for a while. */
function quiet(): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      observer.disconnect();
      resolve();
    };
    let timer = setTimeout(end, QUIET_MS);
    const observer = new MutationObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(end, QUIET_MS);
    });
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  });
}

/** Resolves once the page is drawn as it stays. */
export async function settled(): Promise<void> {
  await pressed();
  await document.fonts.ready;
  await Promise.all([...document.images].map((image) => image.decode().catch(() => undefined)));
  await quiet();
}
