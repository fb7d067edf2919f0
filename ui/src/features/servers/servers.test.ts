// The Servers screen on a recorded engine: reading, approving the changes shown, switching, setting up, importing, the
// log.

import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { expect, test, vi } from 'vitest';
import { findSeriousFaults } from '../../testing/accessibility';
import { at, click, focused, openApp, text, type } from '../../app/app_page';
import { FakeHost } from '../../ipc/fake';
import { serverTool, serverView } from '../../ipc/fake_servers';
import type { Desk } from '../../state/desk.svelte';

async function open(prepare: (host: FakeHost) => void = () => {}): Promise<{ host: FakeHost; desk: Desk }> {
  const host = new FakeHost();
  prepare(host);
  const desk = await openApp(host);
  await click('rail-servers');
  await waitFor(() => expect(host.queries('servers').length).toBeGreaterThan(0));
  await new Promise((done) => setTimeout(done));
  return { host, desk };
}

test('every side of every server, and every page, stands without a serious finding', async () => {
  await open();
  for (const server of ['chat', 'files', 'github', 'metrics']) {
    await click(`server-${server}`);
    for (const side of ['log', 'setup', 'tools']) {
      await click(`server-tab-${side}`);
      await new Promise((done) => setTimeout(done));
      expect(await findSeriousFaults(), `${server} ${side}`).toEqual([]);
    }
  }
  await click('server-tab-setup');
  await click('setup-edit');
  await click('pair-add');
  expect(await findSeriousFaults()).toEqual([]);
  await click('servers-import');
  await screen.findAllByTestId('found-source');
  expect(await findSeriousFaults()).toEqual([]);
  await click('servers-add');
  await screen.findByTestId('server-id');
  expect(await findSeriousFaults()).toEqual([]);
});

test('without a server it says what one is, and what to do', async () => {
  await open((host) => (host.servers.all = []));
  expect(text('servers-empty')).toContain('No server yet');
  expect(await findSeriousFaults()).toEqual([]);
  await click('empty-add');
  await waitFor(() => expect(focused()).toBe('server-id'));
});

test('a file that cannot be read is told where the servers would be', async () => {
  await open((host) => {
    host.servers.all = [];
    host.servers.fault = { message: 'servers.toml: line 3: expected a value.', hint: 'Correct it.', context: [] };
  });
  expect(text('servers-fault')).toContain('line 3');
});

test('what changed is shown letter for letter and approved by its digest', async () => {
  const { host } = await open();
  await click('server-chat');
  expect(text('server-waiting')).toContain('2 tools wait for a look');
  expect(text('server-waiting')).toContain('U+200B');
  expect(text('server-waiting')).not.toContain('@@');
  expect(text('server-left-out')).toContain('export_all');
  await click('server-approve');
  expect(host.ops.at(-1)).toEqual({
    type: 'change_server',
    server: 'chat',
    change: { type: 'approve', digest: 'digest-chat' },
  });
  await waitFor(() => expect(screen.queryByTestId('server-waiting')).toBeNull());
  expect(text('tools-sum')).toBe('3 tools');
});

test('what changes while it is read is not approved: it stays until the person looks again', async () => {
  const { host, desk } = await open();
  await click('server-chat');
  const chat = host.servers.all[0];
  if (chat)
    Object.assign(chat, {
      pending_digest: 'digest-2',
      tools: [
        ...chat.tools,
        serverTool('delete_all', 'Deletes.', {}, 'new', '--- approved\n+++ now\n@@ -0,0 +1 @@\n+delete_all\n'),
      ],
    });
  desk.now = Date.now() + 60_000;
  await screen.findByTestId('server-stale');
  expect(text('server-waiting')).not.toContain('delete_all');
  expect(screen.queryByTestId('server-approve')).toBeNull();
  await click('server-look-again');
  expect(text('server-waiting')).toContain('delete_all');
  await click('server-approve');
  expect(host.ops.at(-1)).toMatchObject({ change: { digest: 'digest-2' } });
});

test('a server is switched on and off; a refusal stands beside it, and its log can be read', async () => {
  const { host } = await open((host) => (host.servers.broken = { github: 'docker was not found' }));
  await click('server-github');
  await click('server-enabled');
  expect((await screen.findByTestId('server-trouble')).textContent).toContain('docker was not found');
  expect(screen.queryByTestId('toast')).toBeNull();
  expect(at('server-enabled').getAttribute('aria-checked')).toBe('false');
  host.servers.broken = {};
  await click('server-enabled');
  await waitFor(() => expect(text('server-state')).toBe('Connected'));
  expect(screen.queryByTestId('server-trouble')).toBeNull();
  expect(text('tools-sum')).toBe('2 tools');
  await click('server-enabled');
  await waitFor(() => expect(text('server-state')).toBe('Off'));
  expect(host.ops.map((op) => (op.type === 'change_server' ? op.change : null))).toEqual([
    { type: 'switch', enabled: true },
    { type: 'switch', enabled: true },
    { type: 'switch', enabled: false },
  ]);
});

test('a program that runs as the person is said to, and is moved into a sandbox around the folder and back', async () => {
  const { host, desk } = await open();
  const folder = '/home/mira/code/tidemark';
  desk.folders.chosen = folder;
  await click('server-chat');
  expect(screen.queryByTestId('server-unfenced')).toBeNull();
  await click('server-files');
  expect(text('server-unfenced')).toContain('It runs as you, outside any sandbox.');
  await click('server-into-sandbox');
  await waitFor(() => expect(text('server-state')).toBe('Connected'));
  const before = {
    type: 'stdio',
    command: 'npx',
    args: ['-y', '@modelcontextprotocol/server-filesystem', '/home/mira/code'],
    env: {},
  };
  const transport = { ...before, folder: null, sandbox: { workspace: folder, hosts: [] } };
  const asked = () => host.ops.map((op) => (op.type === 'change_server' ? op.change : null));
  expect(asked()).toEqual([
    { type: 'set', transport, timeout_ms: 30_000 },
    { type: 'switch', enabled: true },
  ]);
  expect(screen.queryByTestId('server-unfenced')).toBeNull();
  await click('server-tab-setup');
  expect(text('server-runs')).toContain('in a sandbox');
  expect(text('server-runs')).toContain('reaches no host');

  // A server that is changed stays in its sandbox.
  await click('setup-edit');
  await type('server-hosts', 'docs.rs, api.example.com');
  await click('server-audience-others');
  await click('server-save');
  await waitFor(() => expect(text('server-runs')).toContain('reaches docs.rs and api.example.com'));
  expect(asked().at(-1)).toMatchObject({
    transport: { sandbox: { workspace: folder, hosts: ['docs.rs', 'api.example.com'] } },
    audience: 'others',
  });
  expect(text('server-read-by')).toBe('Others, too');
  await click('server-acts');
  await click('server-acts-leave');
  await waitFor(() => expect(text('server-runs')).toBe('as you, outside any sandbox'));
  // Who reads it stays as it was said.
  const moved = { type: 'set', transport: { ...before, folder: null }, timeout_ms: 30_000, audience: 'others' };
  expect(asked().at(-1)).toEqual(moved);
  expect(text('server-state')).toBe('Off');
});

test('removing asks once, and keeping is what has the focus', async () => {
  const { host } = await open();
  await click('server-files');
  await click('server-acts');
  await click('server-acts-remove');
  await waitFor(() => expect(focused()).toBe('remove-keep'));
  expect(host.ops).toEqual([]);
  await click('remove-keep');
  await waitFor(() => expect(focused()).toBe('server-acts'));
  await click('server-acts');
  await click('server-acts-remove');
  await click('remove-now');
  await waitFor(() => expect(screen.queryByTestId('server-files')).toBeNull());
  expect(host.ops).toEqual([{ type: 'change_server', server: 'files', change: { type: 'remove' } }]);
  await waitFor(() => expect(focused()).toBe('server-chat'));
});

test('a server is added by its form: each fault at its field, a secret into the keychain', async () => {
  const { host } = await open();
  await click('servers-add');
  await click('server-save');
  expect(text('bad-id')).toBe('Give it a short name.');
  expect(text('bad-command')).toBe('Say which program to start.');
  await waitFor(() => expect(focused()).toBe('server-id'));
  await type('server-id', 'chat');
  expect(text('bad-id')).toContain('is there already');
  await type('server-id', 'linear');
  await type('server-command', 'npx -y "linear mcp"');
  await click('pair-add');
  await type('pair-name-0', 'LINEAR_TOKEN');
  await type('pair-value-0', 'lin_1');
  expect((at('pair-value-0') as HTMLInputElement).type).toBe('password');
  await click('pair-keep-0');
  expect(host.ops).toEqual([{ type: 'set_key', provider: 'mcp:linear-LINEAR_TOKEN', key: 'lin_1' }]);
  await waitFor(() => expect((at('pair-value-0') as HTMLInputElement).value).toBe('keychain:linear-LINEAR_TOKEN'));
  await click('server-save');
  const transport = {
    type: 'stdio',
    command: 'npx',
    args: ['-y', 'linear mcp'],
    env: { LINEAR_TOKEN: 'keychain:linear-LINEAR_TOKEN' },
    folder: null,
  };
  expect(host.ops.at(-1)).toEqual({
    type: 'change_server',
    server: 'linear',
    change: { type: 'set', transport, timeout_ms: 30_000 },
  });
  await waitFor(() => expect(focused()).toBe('server-enabled'));
  expect(at('server-linear').getAttribute('aria-current')).toBe('true');
  expect(text('server-off')).toContain('Switching it on starts it');
});

test('a server at an address: its client is given with its secret in the keychain, shown, and taken out again', async () => {
  const { host } = await open();
  await click('servers-add');
  await type('server-id', 'far');
  await click('server-as-http');
  await type('server-url', 'https://far.example/mcp');
  expect(screen.queryByTestId('server-client-secret')).toBeNull();
  await type('server-client', 'countersign-1');
  await type('server-client-secret', 'hush');
  expect((at('server-client-secret') as HTMLInputElement).type).toBe('password');
  expect(await findSeriousFaults()).toEqual([]);
  await click('client-keep');
  await waitFor(() =>
    expect((at('server-client-secret') as HTMLInputElement).value).toBe('keychain:far-client-secret'),
  );
  expect(host.ops).toEqual([{ type: 'set_key', provider: 'mcp:far-client-secret', key: 'hush' }]);
  await type('server-client', '');
  await click('server-save');
  expect(text('bad-client')).toBe('Write the id that the secret belongs to, or take out the secret.');
  await type('server-client', 'countersign-1');
  await click('server-save');
  const transport = {
    type: 'http',
    url: 'https://far.example/mcp',
    headers: {},
    client: { id: 'countersign-1', secret: 'keychain:far-client-secret' },
  };
  await waitFor(() =>
    expect(host.ops.at(-1)).toEqual({
      type: 'change_server',
      server: 'far',
      change: { type: 'set', transport, timeout_ms: 30_000 },
    }),
  );
  await screen.findByTestId('server-far');
  await click('server-tab-setup');
  expect(text('server-setup')).toContain('Known there as countersign-1');
  await click('setup-edit');
  await type('server-client', '');
  await type('server-client-secret', '');
  await click('server-save');
  const { client: _, ...without } = transport;
  await waitFor(() =>
    expect(host.ops.at(-1)).toEqual({
      type: 'change_server',
      server: 'far',
      change: { type: 'set', transport: without, timeout_ms: 30_000 },
    }),
  );
});

test('an edit that is refused says so in the form, and keeps what was written', async () => {
  const { host } = await open();
  await click('server-files');
  await click('server-acts');
  await click('server-acts-edit');
  expect((at('server-command') as HTMLInputElement).value).toBe(
    'npx -y @modelcontextprotocol/server-filesystem /home/mira/code',
  );
  vi.spyOn(host, 'submit').mockRejectedValueOnce(new Error('The disk is full.'));
  await type('server-seconds', '60');
  await click('server-save');
  expect((await screen.findByTestId('setup-refused')).textContent).toContain('The disk is full.');
  expect((at('server-seconds') as HTMLInputElement).value).toBe('60');
  await click('server-save');
  await waitFor(() => expect(focused()).toBe('setup-edit'));
  expect(text('server-setup')).toContain('60 s to start');
});

test('a secret is put into the keychain where it is referred to, and never shown', async () => {
  const { host } = await open();
  await click('server-github');
  await click('server-tab-setup');
  await click('secret-open');
  await waitFor(() => expect(focused()).toBe('secret-value'));
  await type('secret-value', 'ghp_x');
  await click('secret-save');
  expect(host.ops).toEqual([{ type: 'set_key', provider: 'mcp:github-GITHUB_TOKEN', key: 'ghp_x' }]);
  await waitFor(() => expect(focused()).toBe('secret-open'));
});

test('nothing is imported that was not chosen, and of one name only one', async () => {
  const { host } = await open((host) => {
    const twin = host.servers.sources[0]?.found[0];
    if (twin?.settings) host.servers.sources[1]?.found.push(structuredClone(twin));
  });
  await click('servers-import');
  await screen.findAllByTestId('found-source');
  expect((at('found-add') as HTMLButtonElement).disabled).toBe(true);
  const [one, twin] = screen.getAllByTestId('found-postgres');
  if (one) await fireEvent.click(one);
  if (twin) await fireEvent.click(twin);
  expect(screen.getAllByTestId('found-postgres').map((box) => (box as HTMLInputElement).checked)).toEqual([
    false,
    true,
  ]);
  expect(screen.queryByTestId('found-files')).toBeNull();
  await click('found-Sentry_prod');
  expect(text('found-add')).toBe('Add 2 servers');
  await click('found-add');
  await screen.findByTestId('server-postgres');
  expect(host.ops.map((op) => (op.type === 'change_server' ? [op.server, op.change.type] : null))).toEqual([
    ['Sentry_prod', 'set'],
    ['postgres', 'set'],
  ]);
});

test('the log is told by voice and copied, and follows what comes', async () => {
  const written: string[] = [];
  vi.stubGlobal('navigator', {
    ...navigator,
    clipboard: { writeText: (copied: string) => (written.push(copied), Promise.resolve()) },
  });
  const { host, desk } = await open();
  await click('server-metrics');
  await click('server-tab-log');
  expect((await screen.findByTestId('server-log')).childElementCount).toBe(4);
  await click('log-voice-stderr');
  expect(at('server-log').childElementCount).toBe(2);
  await click('log-copy');
  expect(written[0]?.split('\n').map((line) => line.slice(21))).toEqual([
    'stderr  Traceback (most recent call last):',
    "stderr  ModuleNotFoundError: No module named 'metrics'",
  ]);
  host.servers.lines['metrics'] = [{ at_ms: 1, from: 'stderr', text: [{ text: 'again', control: false }] }];
  desk.now += 1_000;
  await waitFor(() => expect(text('server-log')).toContain('again'));
  vi.unstubAllGlobals();
});

test('arrow keys walk the servers, the filter narrows them, the palette leads there', async () => {
  const { desk } = await open();
  at('servers-filter').focus();
  await fireEvent.keyDown(at('servers-filter'), { key: 'ArrowDown' });
  await fireEvent.keyDown(document.activeElement ?? document.body, { key: 'ArrowDown' });
  expect(focused()).toBe('server-files');
  await type('servers-filter', 'look at');
  expect(screen.queryByTestId('server-files')).toBeNull();
  expect(at('server-chat')).toBeTruthy();
  await click('rail-desk');
  await fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true });
  await type('palette-input', 'add a server');
  await fireEvent.keyDown(at('palette-input'), { key: 'Enter' });
  await screen.findByTestId('server-form');
  expect(desk.navigation.view.screen).toBe('servers');
});

test('fifty servers of a thousand tools are listed at once; of many tools only the first stand in the page', async () => {
  const tools = Array.from({ length: 1_000 }, (_, i) =>
    serverTool(`tool_${i}`, `Does the ${i}th thing. And more.`, { readOnlyHint: i % 2 === 0 }),
  );
  await open(
    (host) =>
      (host.servers.all = Array.from({ length: 50 }, (_, i) =>
        serverView(
          `s${i}`,
          { type: 'http', url: `https://s${i}.example`, headers: {} },
          { state: { type: 'ready' }, tools: i === 0 ? tools : [] },
        ),
      )),
  );
  expect(document.querySelectorAll('[data-row]').length).toBe(50);
  expect(screen.getAllByTestId('server-tool').length).toBe(100);
  await type('server-tools-filter', '777th');
  expect(screen.getAllByTestId('server-tool').length).toBe(1);
  await click('server-tool-tool_777');
  expect(text('server-tool')).toContain('changes things');
  await type('server-tools-filter', '');
  await click('server-tools-rest');
  expect(screen.getAllByTestId('server-tool').length).toBe(1_000);
});
