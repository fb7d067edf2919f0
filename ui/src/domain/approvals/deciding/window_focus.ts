// Remembers when the window last became active: a press that merely activates it must not decide anything.

const ALWAYS = Number.NEGATIVE_INFINITY;
let since: number | null = ALWAYS;

if (typeof window !== 'undefined') {
  window.addEventListener('focus', () => {
    since ??= performance.now();
  });
  window.addEventListener('blur', () => {
    since = null;
  });
}

/**
 * Since when the window has been active; none while it is not. Where nobody tells (no window manager), it has always been.
 * A press in a window that counts as inactive is what activates it.
 */
export function activeSince(at: number): number | null {
  const before = since;
  since ??= at;
  return before;
}

/** Takes the window for one that has always been active, as when it is opened. */
export function resetWindowFocus(): void {
  since = ALWAYS;
}
