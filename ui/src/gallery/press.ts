// What is pressed and written on a page, so that a state of the gallery is reached as a person would.

import { quiet } from './quiet';

/** A step: the test id of what is pressed, text that is written into a field, or a key, of the window where no field is named. */
export type Step = string | { write: string; into: string } | { key: string; ctrl?: boolean; into?: string };

/** Timeout for an element to be drawn and to become usable. */
const USABLE_MS = 10_000;

let pressing: Promise<unknown> = Promise.resolve();

/** Resolves once all steps are done, also of a page that is still opening; rejects if an element never became usable. */
export async function pressed(): Promise<void> {
  try {
    let before: Promise<unknown> | null = null;
    while (before !== pressing) {
      before = pressing;
      await before;
    }
  } finally {
    pressing = Promise.resolve();
  }
}

/** Counts something that a page waits for among its steps. */
export function addPending(work: Promise<unknown>): void {
  pressing = Promise.all([pressing, work]);
}

/** Waits until an element that has this test id can be used. */
function findUsable(box: HTMLElement, testid: string, signal: AbortSignal): Promise<HTMLElement> {
  const selector = `[data-testid="${testid}"]:not(:disabled, [aria-disabled="true"])`;
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      observer.disconnect();
    };
    const look = () => {
      const found = box.querySelector<HTMLElement>(selector);
      if (!found) return;
      end();
      resolve(found);
    };
    const observer = new MutationObserver(look);
    const timer = setTimeout(() => {
      end();
      reject(new Error(`There is no ${testid} to press. Look at the test ids of the component that draws it.`));
    }, USABLE_MS);
    signal.addEventListener('abort', end);
    observer.observe(box, { subtree: true, childList: true, attributes: true });
    look();
  });
}

async function takeStep(box: HTMLElement, step: Step, signal: AbortSignal): Promise<void> {
  if (typeof step === 'string') {
    (await findUsable(box, step, signal)).click();
  } else if ('key' in step) {
    // Nothing tells that the page listens but that it is drawn.
    await quiet(signal);
    if (signal.aborted) return;
    const target = step.into === undefined ? document.body : await findUsable(box, step.into, signal);
    target.dispatchEvent(new KeyboardEvent('keydown', { key: step.key, ctrlKey: step.ctrl, bubbles: true }));
  } else {
    const field = (await findUsable(box, step.into, signal)) as HTMLInputElement | HTMLTextAreaElement;
    field.focus();
    field.value = step.write;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }
  await new Promise((drawn) => requestAnimationFrame(drawn));
}

async function takeSteps(box: HTMLElement, steps: readonly Step[], signal: AbortSignal): Promise<void> {
  // A page that opens puts the focus somewhere, which a step must not come before.
  if (steps.length > 0) await quiet(signal);
  for (const step of steps) {
    if (signal.aborted) return;
    await takeStep(box, step, signal);
  }
}

/** Takes steps one after the other, each as soon as it can be taken, after a look of `lookMs`. Returns what ends that. */
export function pressAll(box: HTMLElement | undefined, steps: readonly Step[], lookMs = 0): () => void {
  const stopped = new AbortController();
  const looked = new Promise((seen) => setTimeout(seen, steps.length > 0 ? lookMs : 0));
  if (box) addPending(looked.then(() => takeSteps(box, steps, stopped.signal)));
  return () => stopped.abort();
}
