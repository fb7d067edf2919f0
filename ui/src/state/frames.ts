// The next frame of the window, whether or not it is seen.

/** Runs something with the next frame. A window that is not seen draws none; what happens must arrive all the same. */
export function nextFrame(run: () => void): void {
  const once = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    run();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, document.hidden ? 50 : 250);
}
