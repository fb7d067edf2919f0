// Which listeners the window and the document have, for tests that must not leave any behind.

interface Registration {
  target: EventTarget;
  type: string;
  listener: EventListenerOrEventListenerObject | null;
  capture: boolean;
}
let registered: Registration[] = [];

/** Events that libraries listen for from their first use on: Svelte for forms, the selectors of jsdom for `:hover`. */
const LIBRARY_EVENTS = ['reset', 'mouseover', 'mouseout'];

const capturesIn = (options?: boolean | EventListenerOptions): boolean =>
  typeof options === 'boolean' ? options : (options?.capture ?? false);

/** Keeps the list of one target: every listener that is added to it until it is removed. */
function watchListeners(target: EventTarget): void {
  const add = target.addEventListener.bind(target);
  const remove = target.removeEventListener.bind(target);
  const forget = ({ type, listener, capture }: Omit<Registration, 'target'>) =>
    (registered = registered.filter(
      (one) => one.target !== target || one.type !== type || one.listener !== listener || one.capture !== capture,
    ));
  target.addEventListener = (type, listener, options) => {
    const one = { target, type, listener, capture: capturesIn(options) };
    const more = typeof options === 'object' ? options : {};
    if (!more.once) {
      forget(one);
      registered.push(one);
      more.signal?.addEventListener('abort', () => forget(one));
    }
    add(type, listener, options);
  };
  target.removeEventListener = (type, listener, options) => {
    forget({ type, listener, capture: capturesIn(options) });
    remove(type, listener, options);
  };
}
watchListeners(window);
watchListeners(document);

/** The listeners of now, to be compared with later ones. */
export const pageListeners = (): readonly Registration[] => [...registered];

/** The event types of listeners that have been added since and are still there. */
export function addedSince(before: readonly Registration[]): string[] {
  const added = registered.filter((one) => !before.includes(one)).map(({ type }) => type);
  return added.filter((type) => !LIBRARY_EVENTS.includes(type));
}
