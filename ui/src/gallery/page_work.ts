// What a page that is photographed is still at: while a timer, a frame or a picture is to come that may change it, it is not at
// rest.

/** A timer that takes longer is a limit, or takes away what a picture shows. */
const LONGEST_MS = 2_000;

const timers = new Set<number>();
const frames = new Set<number>();
let pictures = 0;

/** Asks for a frame that nothing waits for. */
export const requestUnwatchedFrame = window.requestAnimationFrame.bind(window);

/** Returns whether something is to come that was asked for since it is watched. */
export function isBusy(): boolean {
  return timers.size + frames.size + pictures > 0;
}

/** Watches every timer, frame and picture that is asked for from now on. */
export function watchWork(): void {
  watchTimers();
  watchFrames();
  watchPictures();
}

function watchTimers(): void {
  const { setTimeout: set, clearTimeout: clear } = window;
  window.setTimeout = ((handler: (...given: unknown[]) => void, ms = 0, ...given: unknown[]): number => {
    const timer = set(() => {
      timers.delete(timer);
      handler(...given);
    }, ms);
    if (ms <= LONGEST_MS) timers.add(timer);
    return timer;
  }) as typeof window.setTimeout;
  window.clearTimeout = (timer) => {
    timers.delete(timer as number);
    clear(timer);
  };
}

function watchFrames(): void {
  const { cancelAnimationFrame: cancel } = window;
  window.requestAnimationFrame = (draw) => {
    const frame = requestUnwatchedFrame((at) => {
      frames.delete(frame);
      draw(at);
    });
    frames.add(frame);
    return frame;
  };
  window.cancelAnimationFrame = (frame) => {
    frames.delete(frame);
    cancel(frame);
  };
}

function watchPictures(): void {
  const { createImageBitmap: create } = window;
  window.createImageBitmap = (async (...given: Parameters<typeof createImageBitmap>) => {
    pictures += 1;
    try {
      return await create(...given);
    } finally {
      // Who waits for the picture draws it first.
      requestUnwatchedFrame(() => (pictures -= 1));
    }
  }) as typeof createImageBitmap;
}
