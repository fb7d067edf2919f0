// Waits until nothing changes in the page any more.

/** How long nothing may change until a page counts as drawn. */
const QUIET_MS = 100;

/** Resolves once nothing has changed in the page for a while. */
export function quiet(): Promise<void> {
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
