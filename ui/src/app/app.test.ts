// The whole interface on a recorded engine: every screen without a serious finding, and its keys, focus and words.

import { fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { findSeriousFaults } from '../testing/accessibility';
import { at, click, focused, openApp } from './app_page';
import sample from '../../../tests/golden/sample.jsonl?raw';
import { FakeHost } from '../ipc/fake';
import { parseStream } from '../ipc/fake_streams';
import { firstStart } from '../ipc/fake_settings';
import { Refused } from '../ipc/desk';
import type { Desk } from '../state/desk.svelte';

const events = parseStream(sample);
const NOW = (events.at(-1)?.at ?? 0) + 1_000;

beforeEach(() => {
  vi.spyOn(Date, 'now').mockReturnValue(NOW);
});

async function open(host = new FakeHost(events)): Promise<{ host: FakeHost; desk: Desk }> {
  host.now = () => NOW;
  const desk = await openApp(host);
  return { host, desk };
}
const press = (key: string, more: object = {}) =>
  fireEvent.keyDown(document.activeElement ?? document.body, { key, ...more });
const lastOp = (host: FakeHost) => host.ops.at(-1);

/** Another call of a session waits for the person. */
function askAnew(host: FakeHost, digest: string, call = 'call_new'): void {
  host.emit(
    'ses_0006',
    {
      type: 'call_proposed',
      call: { id: call, name: 'bash', arguments: {} },
      message: 'msg_x',
      reasoning: null,
    },
    { type: 'call_waiting', call, digest, grants: [], refreshed: null, expires_at: null },
  );
}
/** A session is opened by somebody else. */
function openElsewhere(host: FakeHost): void {
  host.emit('ses_x', {
    type: 'session_opened',
    title: 'The demo',
    workspace: '/w',
    model: { provider: 'demo', model: '' },
  });
}

describe('no serious finding on any screen', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['the Desk', async () => {}],
    ['a session with a waiting card', () => click('rail-session-ses_0006')],
    ['a session with settled calls', () => click('rail-session-ses_0001')],
    ['a failed session', () => click('rail-session-ses_0002')],
    ['a question', () => click('rail-session-ses_0005')],
    ['the start', () => click('rail-new')],
    [
      'the settings with a key field',
      async () => {
        await click('rail-settings');
        await click('key-openai');
      },
    ],
    ['the history', () => click('rail-history')],
    ['the connections', () => click('rail-connections')],
    [
      'the search with results',
      async () => {
        await click('rail-search');
        await fireEvent.input(at('search-box'), { target: { value: 'cargo' } });
        await screen.findByTestId('hits');
      },
    ],
    ['the commands', () => press('k', { ctrlKey: true })],
    ['the keys', () => press('?')],
  ])('%s', async (_, go) => {
    await open();
    await go();
    await new Promise((drawn) => requestAnimationFrame(drawn));
    expect(await findSeriousFaults()).toEqual([]);
  });

  test('the first start', async () => {
    await open(new FakeHost([], { providers: firstStart() }));
    expect(await findSeriousFaults()).toEqual([]);
  });
});

describe('the frame', () => {
  test('the title counts what waits', async () => {
    const { host } = await open();
    expect(document.title).toBe('4 calls wait · Desk · Countersign');
    await click('rail-session-ses_0006');
    expect(document.title).toBe('4 calls wait · Unary minus precedence · Countersign');
    host.emit('ses_0006', { type: 'session_renamed', title: 'Minus' });
    await waitFor(() => expect(document.title).toBe('4 calls wait · Minus · Countersign'));
  });

  test('a card that lands elsewhere is announced, counted and offered', async () => {
    const { host } = await open();
    await click('rail-history');
    const waiting = events
      .filter((event) => event.session === 'ses_0006')
      .findLast((event) => event.body.type === 'call_waiting');
    const call = (waiting?.body as { call: string }).call;
    const digest = (waiting?.body as { digest: string }).digest;
    host.emit('ses_0006', { type: 'call_decided', call, digest, decision: { type: 'edit', arguments: {} } });
    host.emit('ses_0006', { type: 'call_started', call });
    await waitFor(() => expect(within(at('rail-count')).getByText('3')).toBeTruthy());
    askAnew(host, digest);
    await waitFor(() => expect(at('live').textContent).toBe('bash needs approval.'));
    expect(within(at('rail-count')).getByText('4')).toBeTruthy();
    const toast = at('toast');
    expect(toast.textContent).toContain('bash needs approval');
    await fireEvent.click(within(toast).getByText('Show'));
    expect(document.title).toBe('4 calls wait · Unary minus precedence · Countersign');
  });

  test('ten cards are one notice that leads to the Desk, and drive no other notice away', async () => {
    const { host, desk } = await open();
    await click('rail-history');
    desk.toasts.add({ icon: 'failed', ink: 'failed', title: 'The disk is full.' });
    for (let n = 0; n < 10; n += 1) askAnew(host, `d_${n}`, `call_new_${n}`);
    const notices = () => screen.getAllByTestId('toast').map((toast) => toast.textContent.trim());
    await waitFor(() =>
      expect(notices()).toEqual(['The disk is full.', expect.stringMatching(/^14 calls wait\s*Show the Desk$/)]),
    );
    await fireEvent.click(screen.getByText('Show the Desk'));
    expect(document.title).toBe('14 calls wait · Desk · Countersign');
    expect(notices()).toEqual(['The disk is full.']);
  });

  test('what told of a card goes with its answer, whoever gave it', async () => {
    const { host } = await open();
    await click('rail-history');
    const digest = 'd';
    askAnew(host, digest);
    await waitFor(() => expect(at('toast').textContent).toContain('bash needs approval'));
    host.emit('ses_0006', {
      type: 'call_decided',
      call: 'call_new',
      digest,
      decision: { type: 'edit', arguments: {} },
    });
    host.emit('ses_0006', { type: 'call_started', call: 'call_new' });
    await waitFor(() => expect(screen.queryByTestId('toast')).toBeNull());
  });

  test('a refusal says what happened and what to do', async () => {
    const { host } = await open();
    vi.spyOn(host, 'submit').mockRejectedValue(
      new Refused({ message: 'There is no such folder.', hint: 'Choose another.', context: [] }),
    );
    await click('rail-new');
    await click('play-demo');
    expect((await screen.findByTestId('toast')).textContent).toContain('There is no such folder.');
    expect(screen.getByRole('alert').textContent).toBe('There is no such folder. Choose another.');
  });

  test('the theme follows the setting', async () => {
    const { host } = await open();
    await click('rail-settings');
    await click('section-appearance');
    await click('set-theme-dark');
    await waitFor(() => expect(document.documentElement.dataset['theme']).toBe('dark'));
    expect(lastOp(host)).toMatchObject({ type: 'set_settings', settings: { theme: 'dark' } });
    await click('rail-appearance');
    await waitFor(() => expect(document.documentElement.dataset['theme']).toBe('light'));
  });
});

describe('keys', () => {
  test.each(['/', '?', 'i', 'j', 'k', 'y'])('the single letter %s does nothing in a text field', async (key) => {
    const { host } = await open();
    await click('rail-session-ses_0006');
    at('composer').focus();
    const panel = screen.queryByTestId('panel') !== null;
    await press(key);
    expect(focused()).toBe('composer');
    expect(screen.queryByTestId('keys')).toBeNull();
    expect(screen.queryByTestId('panel') !== null).toBe(panel);
    expect(host.ops).toEqual([]);
  });

  test('/ searches, ? tells the keys, Ctrl K the commands, i the inspector', async () => {
    await open();
    await press('?');
    expect(at('keys')).toBeTruthy();
    await fireEvent(at('keys'), new Event('cancel', { cancelable: true }));
    expect(screen.queryByTestId('keys')).toBeNull();
    await press('i');
    expect(at('panel').getAttribute('aria-label')).toBe('Inspector');
    await press('i');
    expect(screen.queryByTestId('panel')).toBeNull();
    await press('k', { ctrlKey: true });
    await fireEvent.input(at('palette-input'), { target: { value: 'history' } });
    await press('Enter');
    expect(document.title).toBe('4 calls wait · History · Countersign');
    await press('/');
    expect(focused()).toBe('search-box');
  });

  test('the commands that were run last come first while nothing is typed, but none that ends something', async () => {
    await open();
    const shown = () => [...at('palette').querySelectorAll('li')].map((one) => one.dataset['testid']);
    const run = async (words: string) => {
      await press('k', { ctrlKey: true });
      await fireEvent.input(await screen.findByTestId('palette-input'), { target: { value: words } });
      await press('Enter');
    };
    await run('go to rules');
    await run('go to history');
    await click('rail-session-ses_0006');
    await run('stop');
    await press('k', { ctrlKey: true });
    await screen.findByTestId('palette-input');
    expect(shown().slice(0, 2)).toEqual(['command-history', 'command-rules']);
    expect(new Set(shown()).size).toBe(shown().length);
    await fireEvent.input(at('palette-input'), { target: { value: 'go to' } });
    expect(shown()[0]).toBe('command-desk');
  });

  test('j and k walk the cards of the Desk; the first has the focus on arrival', async () => {
    await open();
    await waitFor(() => expect(focused()).toBe('card-call_0015'));
    await press('j');
    expect(focused()).toBe('card-call_0018');
    await press('k');
    expect(focused()).toBe('card-call_0015');
  });

  test('when the card that had the focus is gone, the next one has it', async () => {
    const { host } = await open();
    await waitFor(() => expect(focused()).toBe('card-call_0015'));
    const outcome = {
      state: 'expired',
      text: '',
      message: '',
      duration_ms: 0,
      needs_followup: false,
      terminal: false,
      digest: '',
    } as const;
    host.emit('ses_0004', { type: 'call_ended', call: 'call_0015', outcome });
    await waitFor(() => expect(focused()).toBe('card-call_0018'));
  });
});

describe('the message box', () => {
  test('Enter sends, Shift+Enter does not, and nothing empty is sent', async () => {
    const { host } = await open();
    await click('rail-session-ses_0001');
    const box = at('composer');
    expect(box.getAttribute('placeholder')).toBe('Say what to do');
    box.focus();
    await press('Enter');
    expect(host.ops).toEqual([]);
    await fireEvent.input(box, { target: { value: 'Go on' } });
    await press('Enter', { shiftKey: true });
    expect(host.ops).toEqual([]);
    await press('Enter');
    expect(host.ops).toEqual([{ type: 'say', session: 'ses_0001', text: 'Go on' }]);
    expect((box as HTMLTextAreaElement).value).toBe('');
    await waitFor(() => expect(at('stop')).toBeTruthy());
    expect(box.getAttribute('placeholder')).toBe('Message the agent, read after this step');
    await click('stop');
    expect(lastOp(host)).toEqual({ type: 'interrupt', session: 'ses_0001' });
    await waitFor(() => expect(at('resume')).toBeTruthy());
    await click('resume');
    expect(lastOp(host)).toEqual({ type: 'resume', session: 'ses_0001' });
  });

  test('what was refused stays in the box, and a draft stays with its session', async () => {
    const { host } = await open();
    await click('rail-session-ses_0002');
    vi.spyOn(host, 'submit').mockRejectedValueOnce(new Refused({ message: 'No.', hint: '', context: [] }));
    await fireEvent.input(at('composer'), { target: { value: 'Try again' } });
    await click('send');
    await screen.findByTestId('toast');
    expect((at('composer') as HTMLTextAreaElement).value).toBe('Try again');
    await click('rail-session-ses_0001');
    expect((at('composer') as HTMLTextAreaElement).value).toBe('');
    await click('rail-session-ses_0002');
    expect((at('composer') as HTMLTextAreaElement).value).toBe('Try again');
  });
});

describe('the start', () => {
  test('without a key the demo comes first, and the key has its place', async () => {
    const { host } = await open(new FakeHost([], { providers: firstStart() }));
    expect(at('no-key').textContent).toContain('it needs no model and no network');
    await click('start-session');
    expect(host.ops).toEqual([]);
    await click('enter-key');
    await waitFor(() => expect(focused()).toBe('key-field'));
    await fireEvent.input(at('key-field'), { target: { value: ' sk-1 ' } });
    await click('key-save');
    expect(host.ops).toEqual([{ type: 'set_key', provider: 'anthropic', key: 'sk-1' }]);
    await waitFor(() => expect(screen.queryByTestId('no-key')).toBeNull());
  });

  test('a folder, who answers, a first message', async () => {
    const { host } = await open();
    await click('rail-new');
    host.picked = '/home/mira/code/new';
    await click('choose-folder');
    await screen.findByTestId('folder-new');
    await click('provider-ollama');
    await fireEvent.input(at('first-message'), { target: { value: 'Look around' } });
    await click('start-session');
    const model = { provider: 'ollama', model: 'qwen3-coder:30b' };
    expect(lastOp(host)).toEqual({
      type: 'open_session',
      workspace: '/home/mira/code/new',
      model,
      prompt: 'Look around',
    });
    await waitFor(() => expect(document.title).toBe('4 calls wait · Look around · Countersign'));
  });
});

describe('search', () => {
  async function search(text: string): Promise<void> {
    await click('rail-search');
    await fireEvent.input(at('search-box'), { target: { value: text } });
  }

  test('finds as one types, marks what matched, and opens the session at the entry', async () => {
    const { desk } = await open();
    await search('borrow');
    const hits = await screen.findByTestId('hits');
    expect([...hits.querySelectorAll('mark')].map((mark) => mark.textContent)).toEqual(['borrow', 'borrow']);
    await click('hit-call_0008');
    expect(desk.navigation.view).toEqual({ screen: 'session', session: 'ses_0003' });
    await waitFor(() => expect(focused()).toBe('card-call_0008'));
  });

  test('a filter becomes a chip, is ticked among the counts, and goes with it', async () => {
    await open();
    await search('state:failed ');
    expect((await screen.findByTestId('chip')).textContent).toBe('state:failed×');
    const facet = await screen.findByTestId('facet-state-failed');
    expect((facet as HTMLInputElement).checked).toBe(true);
    await fireEvent.click(facet);
    await waitFor(() => expect(screen.queryByTestId('chip')).toBeNull());
  });

  test('a stretch of time narrows it down, and the session that was found is exported', async () => {
    const { desk } = await open();
    await search('borrow');
    await click((await screen.findByTestId('when-week')).dataset['testid'] ?? '');
    expect((await screen.findByTestId('chip')).textContent).toBe('after:7d×');
    await click('when-older');
    await waitFor(() => expect(at('chip').textContent).toBe('before:30d×'));
    await click('when-older');
    await waitFor(() => expect(screen.queryByTestId('chip')).toBeNull());
    const copied = vi.spyOn(desk, 'copySession').mockResolvedValue();
    await click((await screen.findByTestId('export')).dataset['testid'] ?? '');
    await click('export-jsonl');
    expect(copied).toHaveBeenCalledWith('ses_0003', 'jsonl');
  });

  test('a query that cannot be is told, with the next step, beside what was found before', async () => {
    await open();
    await search('borrow');
    await screen.findByTestId('hits');
    await search('borrow color:red');
    expect((await screen.findByTestId('search-problem')).textContent).toContain(
      'There is no filter “color:”. Use tool:',
    );
    expect(at('hit-call_0008')).toBeTruthy();
    await search('borrow');
    await waitFor(() => expect(screen.queryByTestId('search-problem')).toBeNull());
  });
});

describe('history', () => {
  test('undo, redo, and a conflict that is told instead of overwritten', async () => {
    const host = new FakeHost(events);
    host.history.conflicts = { und_0002: ['crates/core/src/lib.rs'] };
    await open(host);
    await click('rail-history');
    await screen.findByTestId('history-und_0002');
    await click('history-und_0002');
    expect((await screen.findByTestId('conflicts')).textContent).toContain('1 path changed since.');
    expect((at('undo') as HTMLButtonElement).disabled).toBe(true);
    await click('history-und_0001');
    await waitFor(() => expect((at('undo') as HTMLButtonElement).disabled).toBe(false));
    await click('undo');
    expect(lastOp(host)).toEqual({ type: 'restore', restore: { type: 'undo', entries: ['und_0001'] }, choices: [] });
    await click((await screen.findByTestId('redo')).dataset['testid'] ?? '');
    expect(lastOp(host)).toEqual({ type: 'restore', restore: { type: 'redo', entry: 'und_0001' }, choices: [] });
  });
});

describe('what is wrong, and what is added', () => {
  const faults = [
    {
      message: 'settings.toml, line 2: no such setting.',
      hint: 'Correct the line. Until then every call asks.',
      context: [],
    },
    { message: 'The provider “Mine” cannot be used.', hint: 'Correct its entry in the settings.', context: [] },
  ];

  test('faults stand above everything, one at first, until they are put aside', async () => {
    const { desk } = await open(new FakeHost(events, { faults }));
    expect(at('faults').textContent).toContain(
      'settings.toml, line 2: no such setting. Correct the line. Until then every call asks.',
    );
    expect(at('faults').textContent).not.toContain('Mine');
    await click('faults-rest');
    expect(at('faults').textContent).toContain('Mine');
    expect(await findSeriousFaults()).toEqual([]);
    await click('faults-settings');
    expect(desk.navigation.view).toEqual({ screen: 'settings', section: 'providers' });
    await click('faults-aside');
    expect(screen.queryByTestId('faults')).toBeNull();
  });

  test('a provider of one’s own is added, corrected and removed', async () => {
    const { host } = await open();
    await click('rail-settings');
    await click('add-provider');
    await click('own-save');
    expect(at('bad-title').textContent).toBe('Give it a name.');
    expect(host.ops).toEqual([]);
    await fireEvent.input(at('own-title'), { target: { value: 'My Lab' } });
    expect((at('own-id') as HTMLInputElement).value).toBe('my-lab');
    await fireEvent.input(at('own-base_url'), { target: { value: 'lab:1' } });
    expect(at('bad-base_url').textContent).toBe('Begin with http:// or https://.');
    await fireEvent.input(at('own-base_url'), { target: { value: 'http://lab:1/v1' } });
    expect(await findSeriousFaults()).toEqual([]);
    await click('own-save');
    const saved = {
      id: 'my-lab',
      title: 'My Lab',
      wire: 'openai',
      base_url: 'http://lab:1/v1/',
      key_env: null,
      input_usd_per_mtok: null,
      output_usd_per_mtok: null,
    };
    expect(lastOp(host)).toMatchObject({ type: 'set_settings', settings: { providers: [saved] } });
    await waitFor(() => expect(focused()).toBe('add-provider'));
    await click('edit-my-lab');
    await fireEvent.input(at('own-key_env'), { target: { value: 'LAB_KEY' } });
    await click('own-save');
    expect(lastOp(host)).toMatchObject({ settings: { providers: [{ ...saved, key_env: 'LAB_KEY' }] } });
    await click((await screen.findByTestId('edit-my-lab')).dataset['testid'] ?? '');
    await click('own-remove');
    expect(lastOp(host)).toMatchObject({ settings: { providers: [] } });
  });
});

test('a session that begins elsewhere is shown while nobody touched the start', async () => {
  const { host, desk } = await open(new FakeHost([]));
  expect(desk.navigation.view).toEqual({ screen: 'start' });
  openElsewhere(host);
  await waitFor(() => expect(desk.navigation.view).toEqual({ screen: 'session', session: 'ses_x' }));
});

test('a session that begins elsewhere takes nobody away from what they began', async () => {
  const { host, desk } = await open(new FakeHost([]));
  await fireEvent.input(at('first-message'), { target: { value: 'Look' } });
  openElsewhere(host);
  await waitFor(() => expect(at('rail-session-ses_x')).toBeTruthy());
  expect(desk.navigation.view).toEqual({ screen: 'start' });
});
