// What the measurements do in the page. Times are in milliseconds, from an action until the picture of it was painted.
const find = (testid) => document.querySelector(`[data-testid="${testid}"]`);
const frame = () => new Promise((done) => requestAnimationFrame(done));
/** Waits until what was changed is painted: a task after the next frame's callbacks. */
const painted = async () => {
  await frame();
  await new Promise((done) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = done;
    channel.port2.postMessage(null);
  });
};
const isInView = (element) => {
  const { top, bottom, height } = element.getBoundingClientRect();
  return height > 0 && bottom > 0 && top < innerHeight;
};
/** Whether an element of that selector with that text can be seen. */
const shows = (selector, text) =>
  [...document.querySelectorAll(selector)].some((one) => one.textContent.includes(text) && isInView(one));
const PATIENCE_MS = 60_000;
const until = async (holds, what) => {
  const began = performance.now();
  while (!holds()) {
    if (performance.now() - began > PATIENCE_MS) throw new Error(`waited in vain for ${what}`);
    await frame();
  }
  await painted();
};
/** Frames while something is going on: the time between each two. */
const gapsWhile = async (action) => {
  const gaps = [];
  let goesOn = true;
  let last = performance.now();
  const watching = (async () => {
    while (goesOn) {
      await frame();
      const now = performance.now();
      gaps.push(now - last);
      last = now;
    }
  })();
  await action();
  goesOn = false;
  await watching;
  return gaps;
};

let awaited = null;
window.measured = {
  submit: (op) => window.__TAURI_INTERNALS__.invoke('submit', { op }),
  /** Interrupts every session with a call that waits, and waits until none does. */
  async interruptWaiting() {
    const { sessions } = await window.__TAURI_INTERNALS__.invoke('snapshot');
    for (const session of sessions) if (session.waiting > 0) await this.submit({ type: 'interrupt', session: session.id });
    await until(() => find('rail-count') === null, 'the end of all that waits');
    return true;
  },
  /** How long the engine takes to answer a query, with the way to the page and back. */
  async query(query) {
    const began = performance.now();
    await window.__TAURI_INTERNALS__.invoke('query', { query });
    return performance.now() - began;
  },
  /** Clicks something, until a text can be seen. */
  async open(testid, selector, text) {
    const began = performance.now();
    find(testid).click();
    await until(() => shows(selector, text), `“${text}” in ${selector}`);
    return performance.now() - began;
  },
  /** Opens a call and its whole output, page after page; answers the longest time between two frames meanwhile. */
  async openWhole(testid) {
    const length = () => document.querySelector('[data-testid=output]')?.textContent.length ?? 0;
    const gaps = await gapsWhile(async () => {
      find(testid).click();
      await until(() => length() > 0, 'the output');
      for (let more = find('open-rest'); more; more = find('open-rest')) {
        const before = length();
        more.click();
        await until(() => length() !== before && find('open-rest')?.disabled !== true, 'the next page of the output');
      }
    });
    return Math.max(...gaps);
  },
  /** Begins to wait, from the next key on, until a text can be seen. */
  async awaitKey(selector, text) {
    awaited = new Promise((done, failed) => {
      const listen = () => {
        const began = performance.now();
        until(() => shows(selector, text), `“${text}” in ${selector}`).then(() => done(performance.now() - began), failed);
      };
      addEventListener('keydown', listen, { capture: true, once: true });
    });
    return true;
  },
  /** What `awaitKey` waited for. */
  awaited: () => awaited,
  /** Scrolls an element back and forth, by so many pixels a frame, and answers the times between the frames. */
  async scroll(selector, pixels, seconds) {
    const scroller = document.querySelector(selector);
    const began = performance.now();
    let step = -pixels;
    return gapsWhile(async () => {
      while (performance.now() - began < seconds * 1000) {
        const before = scroller.scrollTop;
        scroller.scrollTop += step;
        await frame();
        if (Math.abs(scroller.scrollTop - before) < 1) step = -step;
      }
    });
  },
};
