// Waits until nothing changes in the page any more.

import { isBusy, requestUnwatchedFrame } from './page_work';

/** Frames in which nothing may change until a page counts as drawn. A busy machine draws fewer of them, and is waited for. */
const QUIET_FRAMES = 6;

/**
 * Resolves once nothing has changed in the page for some frames, nothing scrolls, and nothing is to come that may change it; or once
 * the signal aborts.
 */
export function quiet(signal = new AbortController().signal): Promise<void> {
  let left = QUIET_FRAMES;
  const change = () => (left = QUIET_FRAMES);
  const observer = new MutationObserver(change);
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  document.addEventListener('scroll', change, { capture: true, signal });
  return new Promise((resolve) => {
    const look = () => {
      if (isBusy()) change();
      left -= 1;
      if (!signal.aborted && left > 0) return void requestUnwatchedFrame(look);
      observer.disconnect();
      document.removeEventListener('scroll', change, { capture: true });
      resolve();
    };
    look();
  });
}
