// Waits until nothing changes in the page any more.

import { isTimerRunning } from './timers';

/** How long nothing may change until a page counts as drawn. */
const QUIET_MS = 100;

/**
 * Resolves once nothing has changed in the page for a while, nothing scrolls, and no timer runs that may change it; or once the signal
 * aborts.
 */
export function quiet(signal = new AbortController().signal): Promise<void> {
  let changedAt = performance.now();
  const change = () => (changedAt = performance.now());
  const observer = new MutationObserver(change);
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  document.addEventListener('scroll', change, { capture: true, signal });
  return new Promise((resolve) => {
    // Frame by frame: a timer would be one of those that are waited for.
    const look = () => {
      if (isTimerRunning()) change();
      if (!signal.aborted && performance.now() - changedAt < QUIET_MS) return void requestAnimationFrame(look);
      observer.disconnect();
      document.removeEventListener('scroll', change, { capture: true });
      resolve();
    };
    look();
  });
}
