// The browser that photographs pages: WebKit as the window of the app uses it on Linux, on a display of its own, driven over
// WebDriver. Fonts, language, and time zone are the same on every machine.

import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Pictures are not higher than this. */
export const HEIGHT_MAX = 9_000;

/** The largest width of a page, and what is around it: the pointer, in the middle of the screen, is over no page. */
const WINDOW = { x: 0, y: 0, width: 1440, height: HEIGHT_MAX + 100 };
const SCREEN = `3000x${WINDOW.height}x24`;

/** Timeout for a program to start. */
const START_MS = 30_000;

const FONTS = resolve(import.meta.dirname, '../node_modules/dejavu-fonts-ttf/ttf');

/** The fonts of the package and no others, whatever the machine has. */
const FONT_SETTINGS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${FONTS}</dir>
  <match target="font">
    <edit name="antialias" mode="assign"><bool>true</bool></edit>
    <edit name="hinting" mode="assign"><bool>false</bool></edit>
    <edit name="hintstyle" mode="assign"><const>hintnone</const></edit>
    <edit name="rgba" mode="assign"><const>none</const></edit>
  </match>
  ${[
    ['monospace', 'DejaVu Sans Mono'],
    ['system-ui', 'DejaVu Sans'],
    ['sans-serif', 'DejaVu Sans'],
  ]
    .map(
      ([asked, given]) =>
        `<alias binding="same"><family>${asked}</family><prefer><family>${given}</family></prefer></alias>`,
    )
    .join('\n  ')}
</fontconfig>
`;

/** The same for GTK, which asks the display first. */
const GTK_SETTINGS = `[Settings]
gtk-xft-antialias=1
gtk-xft-hinting=0
gtk-xft-hintstyle=hintnone
gtk-xft-rgba=none
`;

/** Starts a program in a group of its own, which ends with it; the kernel ends it where this process is killed. */
function start(program: string, given: readonly string[], env: NodeJS.ProcessEnv, stdio: StdioOptions): ChildProcess {
  return spawn('setpriv', ['--pdeathsig', 'KILL', '--', program, ...given], { env, stdio, detached: true });
}

function end({ pid }: ChildProcess): void {
  try {
    if (pid) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

/** Returns a port that nobody listens on. */
function findFreePort(): Promise<number> {
  return new Promise((found) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => found(port));
    });
  });
}

/** Starts a display that nobody sees, and returns it with its name. */
async function startDisplay(): Promise<{ display: ChildProcess; name: string }> {
  const options = ['-displayfd', '1', '-screen', '0', SCREEN, '-nolisten', 'tcp', '-noreset'];
  const display = start('Xvfb', options, process.env, ['ignore', 'pipe', 'ignore']);
  const name = await new Promise<string>((named, failed) => {
    display.on('error', failed);
    display.on('exit', () => failed(new Error('Xvfb ended before it said which display it has.')));
    display.stdout?.once('data', (line: Buffer) => named(`:${line.toString().trim()}`));
  });
  return { display, name };
}

/** A page of a window, driven over WebDriver. */
export class Browser {
  readonly #programs: ChildProcess[];
  readonly #home: string;
  readonly #session: string;

  private constructor(programs: ChildProcess[], home: string, session: string) {
    this.#programs = programs;
    this.#home = home;
    this.#session = session;
  }

  /** Starts a browser on a display of its own. */
  static async start(): Promise<Browser> {
    const { display, name } = await startDisplay();
    const home = mkdtempSync(join(tmpdir(), 'countersign-gallery-'));
    const fonts = join(home, 'fonts.conf');
    writeFileSync(fonts, FONT_SETTINGS);
    const gtk = join(home, '.config/gtk-3.0');
    mkdirSync(gtk, { recursive: true });
    writeFileSync(join(gtk, 'settings.ini'), GTK_SETTINGS);
    const port = await findFreePort();
    const env = {
      PATH: process.env['PATH'],
      DISPLAY: name,
      GDK_BACKEND: 'x11',
      NO_AT_BRIDGE: '1',
      DBUS_SESSION_BUS_ADDRESS: 'disabled:',
      GSETTINGS_BACKEND: 'memory',
      HOME: home,
      XDG_RUNTIME_DIR: home,
      FONTCONFIG_FILE: fonts,
      TZ: 'UTC',
      LC_ALL: 'C.UTF-8',
      // What is drawn by layers of its own would be left out of pictures.
      WEBKIT_DISABLE_COMPOSITING_MODE: '1',
    };
    const driver = start('WebKitWebDriver', [`--port=${port}`], env, 'ignore');
    const address = `http://127.0.0.1:${port}`;
    await waitUntilAnswered(`${address}/status`);
    const { sessionId } = await send<{ sessionId: string }>('POST', `${address}/session`, {
      capabilities: { alwaysMatch: { timeouts: { script: START_MS } } },
    });
    const browser = new Browser([driver, display], home, `${address}/session/${sessionId}`);
    await browser.#send('POST', 'window/rect', WINDOW);
    return browser;
  }

  /** Loads a page. */
  async open(address: string): Promise<void> {
    await this.#send('POST', 'url', { url: address });
  }

  /** Runs a script in the page. Its last argument is called with the answer. */
  run<T>(script: string, ...args: unknown[]): Promise<T> {
    return this.#send<T>('POST', 'execute/async', { script, args });
  }

  /** Photographs the first element that a selector finds, as a PNG. */
  async photograph(selector: string): Promise<Uint8Array> {
    const found = await this.#send<Record<string, string>>('POST', 'element', {
      using: 'css selector',
      value: selector,
    });
    const [element] = Object.values(found);
    return Buffer.from(await this.#send<string>('GET', `element/${element}/screenshot`), 'base64');
  }

  /** Ends the browser and its display. */
  close(): void {
    this.#programs.forEach(end);
    rmSync(this.#home, { recursive: true, force: true, maxRetries: 3 });
  }

  #send<T>(method: string, path: string, body?: unknown): Promise<T> {
    return send<T>(method, `${this.#session}/${path}`, body);
  }
}

async function send<T>(method: string, address: string, body?: unknown): Promise<T> {
  const answer = await fetch(address, { method, body: body === undefined ? null : JSON.stringify(body) });
  const { value } = (await answer.json()) as { value: T & { error?: string; message?: string } };
  if (!answer.ok) throw new Error(`${method} ${address}: ${value.error}: ${value.message}`);
  return value;
}

async function waitUntilAnswered(address: string): Promise<void> {
  const deadline = Date.now() + START_MS;
  for (;;) {
    try {
      await fetch(address);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw new Error('WebKitWebDriver does not answer.', { cause: error });
      await new Promise((look) => setTimeout(look, 25));
    }
  }
}
