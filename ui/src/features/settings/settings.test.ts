// What is set in each section of the settings, among them what asks and what this machine can promise (M22, M24).

import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { expect, test, vi } from 'vitest';
import { findFaults } from '../../testing/accessibility';
import { at, openApp, text } from '../../app/app_page';
import sample from '../../../../tests/golden/sample.jsonl?raw';
import { Refused } from '../../ipc/desk';
import { FakeHost } from '../../ipc/fake';
import { parseStream } from '../../ipc/fake_streams';
import { emptySnapshot, promised } from '../../ipc/fake_settings';
import { openSettings } from './settings_page';

test('what asks is set for everywhere, and for a folder that differs', async () => {
  const desk = await openSettings('asking');
  await fireEvent.click(at('set-posture-ask_about_effects'));
  await waitFor(() => expect(desk.settings.posture).toBe('ask_about_effects'));
  expect(screen.queryByTestId('set-folder-posture')).toBeNull();
  await desk.set({ folder_postures: { '/home/me/site': 'ask_first' } });
  await fireEvent.click(await screen.findByTestId('set-folder-posture-unattended'));
  await waitFor(() => expect(desk.settings.folder_postures).toEqual({ '/home/me/site': 'unattended' }));
  // As everywhere else: the folder needs no posture of its own.
  await fireEvent.click(at('set-folder-posture-ask_about_effects'));
  await waitFor(() => expect(desk.settings.folder_postures).toEqual({}));
});

test('what the machine can promise stands with what was tried', async () => {
  await openSettings('commands');
  await waitFor(() => expect(text('doctor')).toContain('Speculative: a dry run changes nothing'));
  expect(text('doctor')).toContain('Landlock and seccomp hold in the sandbox.');
});

test('what it cannot is said as plainly', async () => {
  const host = new FakeHost(parseStream(sample));
  host.promise = {
    ...promised,
    assurance: 'gate_only',
    net_off: false,
    kill_tree: false,
    reasons: ['User namespaces are switched off on this machine.'],
  };
  await openSettings('commands', host);
  await waitFor(() =>
    expect(text('doctor')).toContain('Gate only: runs for real, and what it changes cannot be undone'),
  );
  expect(text('doctor')).toContain('It reaches the network');
  expect(text('doctor')).toContain('User namespaces are switched off');
  expect(await findFaults(at('settings'))).toEqual([]);
});

test('a trial that fails is told, and can be made again', async () => {
  const host = new FakeHost(parseStream(sample));
  const query = vi.spyOn(host, 'query');
  const answer = query.getMockImplementation() ?? FakeHost.prototype.query.bind(host);
  let fails = true;
  query.mockImplementation((asked) =>
    fails && asked.type === 'promise'
      ? Promise.reject(new Refused({ message: 'The folder is gone.', hint: 'Choose another.', context: [] }))
      : answer(asked),
  );
  await openSettings('commands', host);
  await waitFor(() => expect(text('doctor')).toContain('The folder is gone. Choose another.'));
  fails = false;
  await fireEvent.click(at('doctor-again'));
  await waitFor(() => expect(text('doctor')).toContain('Speculative'));
});

test('a language server is switched on where it is found, says what it runs, and goes off again', async () => {
  const desk = await openSettings('languages');
  const set = () => desk.settings.language_servers.map(({ id, enabled }) => [id, enabled]);
  await screen.findByTestId('language-pyright');
  expect(screen.queryByTestId('language-rust-analyzer')).toBeNull();
  await fireEvent.click(at('language-on-pyright'));
  await waitFor(() => expect(set()).toEqual([['pyright', true]]));
  await waitFor(() => expect(text('language-pyright')).toContain('Runs the Python that it finds'));
  await fireEvent.click(at('language-on-pyright'));
  await waitFor(() => expect(set()).toEqual([]));
  await fireEvent.click(at('language-more'));
  await waitFor(() => expect(text('language-rust-analyzer')).toContain('rust-analyzer was not found'));
  expect(screen.queryByTestId('language-on-rust-analyzer')).toBeNull();
});

test('a language server of the own is added, switched off and removed', async () => {
  const desk = await openSettings('languages');
  await fireEvent.click(await screen.findByTestId('language-add'));
  for (const [field, value] of [
    ['command', 'kotlin-lsp'],
    ['endings', 'kt, kts'],
    ['id', 'kotlin'],
  ]) {
    await fireEvent.input(at(`language-${field}`), { target: { value } });
  }
  expect(await findFaults(at('languages'))).toEqual([]);
  await fireEvent.click(at('language-save'));
  const own = { id: 'kotlin-lsp', command: 'kotlin-lsp', args: ['--stdio'], files: { kt: 'kotlin', kts: 'kotlin' } };
  await waitFor(() => expect(desk.settings.language_servers).toEqual([{ ...own, enabled: true }]));
  await fireEvent.click(await screen.findByTestId('language-on-kotlin-lsp'));
  await waitFor(() => expect(desk.settings.language_servers).toEqual([{ ...own, enabled: false }]));
  await fireEvent.click(at('language-remove-kotlin-lsp'));
  await waitFor(() => expect(desk.settings.language_servers).toEqual([]));
});

test('the first start asks what asks, and a session begins with the answer', async () => {
  const { posture: chosen, ...unchosen } = emptySnapshot().settings;
  expect(chosen).toBe('ask_first');
  const host = new FakeHost([], { settings: unchosen });
  host.picked = '/home/mira/code/new';
  const desk = await openApp(host);
  expect((at('posture-ask_about_effects') as HTMLInputElement).checked, 'proposed').toBe(true);
  expect(await findFaults(at('posture'))).toEqual([]);
  await fireEvent.click(at('posture-unattended'));
  await fireEvent.click(at('choose-folder'));
  await screen.findByTestId('folder-new');
  await fireEvent.click(at('start-session'));
  await waitFor(() => expect(host.ops.map(({ type }) => type)).toEqual(['set_settings', 'open_session']));
  expect(desk.settings.posture).toBe('unattended');
});

test('each search provider says whether it has its key, before and after one is kept', async () => {
  const host = new FakeHost(parseStream(sample));
  const desk = await openSettings('web_search', host);
  const one = (id: string, wire: 'brave' | 'searxng') => ({
    id,
    wire,
    base_url: wire === 'searxng' ? 'https://s.test/' : null,
    key_env: null,
  });
  await desk.set({
    web_search: { ...desk.settings.web_search, providers: [one('brave', 'brave'), one('own', 'searxng')] },
  });
  await waitFor(() => expect(text('search-brave')).toContain('No key yet.'));
  expect(at('search-brave').dataset['ready']).toBe('false');
  expect(text('search-own')).toContain('Needs no key · https://s.test/');
  await fireEvent.click(at('search-key-brave'));
  await fireEvent.input(at('search-key-field'), { target: { value: 'hush' } });
  await fireEvent.click(at('search-key-save'));
  await waitFor(() => expect(text('search-brave')).toContain('Key from the system keychain'));
  expect(at('search-brave').dataset['ready']).toBe('true');
  expect(document.body.textContent).not.toContain('hush');
});

test('what no command may open in a sandbox, and how much memory one may take', async () => {
  const desk = await openSettings('commands');
  const add = async (path: string) => {
    await fireEvent.input(at('closed-add'), { target: { value: path } });
    await fireEvent.click(at('closed-save'));
  };
  await add('keys');
  expect(text('sandbox-settings')).toContain('Write a path that begins with / or ~/');
  await add('~/keys');
  await waitFor(() => expect(desk.settings.sandbox).toEqual({ closed: ['~/keys'] }));
  await waitFor(() => expect((at('closed-add') as HTMLInputElement).value).toBe(''));
  await add('~/keys');
  expect(text('sandbox-settings')).toContain('It is in the list already.');
  await fireEvent.input(at('set-memory'), { target: { value: '128' } });
  expect(text('sandbox-settings')).toContain('At least 256 MiB.');
  await fireEvent.input(at('set-memory'), { target: { value: '1024' } });
  await waitFor(() => expect(desk.settings.sandbox).toEqual({ closed: ['~/keys'], memory_mib: 1024 }));
  await fireEvent.input(at('set-memory'), { target: { value: '' } });
  await fireEvent.click(at('closed-remove'));
  await waitFor(() => expect(desk.settings.sandbox).toEqual({ closed: [] }));
  expect(await findFaults(at('settings'))).toEqual([]);
});

test('a path that the engine refuses stays in its field, and the person is told why', async () => {
  const host = new FakeHost(parseStream(sample));
  const desk = await openSettings('commands', host);
  vi.spyOn(host, 'submit').mockRejectedValueOnce(
    new Refused({ message: '`~/keys` cannot be closed.', hint: 'Name another.', context: [] }),
  );
  await fireEvent.input(at('closed-add'), { target: { value: '~/keys' } });
  await fireEvent.click(at('closed-save'));
  await waitFor(() => expect(desk.toasts.lines.map(({ title }) => title)).toEqual(['`~/keys` cannot be closed.']));
  expect((at('closed-add') as HTMLInputElement).value).toBe('~/keys');
  await waitFor(() => expect(desk.settings.sandbox).toBeUndefined());
});

test('copies before calls of servers, and tools that need none', async () => {
  const desk = await openSettings('undo');
  await fireEvent.input(at('read-only-add'), { target: { value: 'files__read_*' } });
  await fireEvent.click(at('read-only-save'));
  await waitFor(() => expect(desk.settings.server_tools).toEqual({ snapshot: true, read_only: ['files__read_*'] }));
  await fireEvent.click(at('set-snapshot'));
  await waitFor(() => expect(desk.settings.server_tools).toEqual({ snapshot: false, read_only: ['files__read_*'] }));
  await fireEvent.click(at('read-only-remove'));
  await waitFor(() => expect(desk.settings.server_tools).toEqual({ snapshot: false, read_only: [] }));
});

test('a hook is added with when it is started, and taken out; one that was not confirmed stays in its fields', async () => {
  const host = new FakeHost(parseStream(sample));
  const desk = await openSettings('programs', host);
  const given = (id: string, value: string) => fireEvent.input(at(id), { target: { value } });
  await fireEvent.click(at('hook-add'));
  await given('hook-name', 'audit');
  await given('hook-program', 'audit.sh');
  await fireEvent.click(at('hook-save'));
  expect(text('hook-form')).toContain('Name its file by its whole path.');
  await waitFor(() => expect(document.activeElement).toBe(at('hook-program')));
  host.picked = '/home/mira/bin/audit';
  await fireEvent.click(at('hook-choose'));
  await waitFor(() => expect((at('hook-program') as HTMLInputElement).value).toBe('/home/mira/bin/audit'));
  await fireEvent.click(at('hook-on-after'));
  expect(await findFaults(at('set-hooks'))).toEqual([]);
  vi.spyOn(host, 'submit').mockRejectedValueOnce(
    new Refused({ message: 'You did not confirm this.', hint: 'Nothing was changed.', context: [] }),
  );
  await fireEvent.click(at('hook-save'));
  await waitFor(() => expect(desk.toasts.lines.map(({ title }) => title)).toEqual(['You did not confirm this.']));
  expect(screen.queryByTestId('hook-form')).toBeTruthy();
  await fireEvent.click(at('hook-save'));
  await waitFor(() =>
    expect(desk.settings.hooks).toEqual([
      { name: 'audit', program: '/home/mira/bin/audit', timeout_ms: 5000, on: ['before', 'after'] },
    ]),
  );
  await waitFor(() => expect(text('hook-entry')).toBe('audit~/bin/audit · before a call and after a call · 5 s'));
  await waitFor(() => expect(document.activeElement).toBe(at('hook-add')));
  await fireEvent.click(at('hook-remove'));
  await waitFor(() => expect(desk.settings.hooks).toEqual([]));
});

test('a watchdog is added and taken out', async () => {
  const desk = await openSettings('programs');
  await fireEvent.click(at('watchdog-add'));
  expect(screen.queryByTestId('hook-on-before')).toBeNull();
  await fireEvent.input(at('watchdog-name'), { target: { value: 'no production' } });
  await fireEvent.input(at('watchdog-program'), { target: { value: '/home/mira/bin/no-prod' } });
  await fireEvent.click(at('watchdog-save'));
  await waitFor(() =>
    expect(desk.settings.watchdogs).toEqual([
      { name: 'no production', program: '/home/mira/bin/no-prod', timeout_ms: 5000 },
    ]),
  );
  await fireEvent.click(await screen.findByTestId('watchdog-remove'));
  await waitFor(() => expect(desk.settings.watchdogs).toEqual([]));
});
