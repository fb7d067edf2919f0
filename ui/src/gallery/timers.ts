// The timers of a page that is photographed: while one runs that may change the page, it is not at rest.

/** A timer that takes longer is a limit, or takes away what a picture shows. */
const LONGEST_MS = 2_000;

const running = new Set<number>();

/** Returns whether a short timer runs that was set since they are watched. */
export function isTimerRunning(): boolean {
  return running.size > 0;
}

/** Watches every timer that is set from now on. Returns what ends that. */
export function watchTimers(): () => void {
  const { setTimeout: set, clearTimeout: clear } = window;
  window.setTimeout = ((handler: (...given: unknown[]) => void, ms = 0, ...given: unknown[]): number => {
    const timer = set(() => {
      running.delete(timer);
      handler(...given);
    }, ms);
    if (ms <= LONGEST_MS) running.add(timer);
    return timer;
  }) as typeof window.setTimeout;
  window.clearTimeout = (timer) => {
    running.delete(timer as number);
    clear(timer);
  };
  return () => {
    Object.assign(window, { setTimeout: set, clearTimeout: clear });
    running.clear();
  };
}
