// The connections: what is said of each agent, and connecting and disconnecting one, also by keys.

import { fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import { describe, expect, test } from 'vitest';
import { at, click, focused, openApp, text } from '../../app/app_page';
import { FakeHost } from '../../ipc/fake';
import { findSeriousFaults } from '../../testing/accessibility';

async function open(prepare: (host: FakeHost) => void = () => undefined): Promise<FakeHost> {
  const host = new FakeHost();
  prepare(host);
  await openApp(host);
  await click('rail-connections');
  await waitFor(() => expect(screen.queryByTestId('connections')?.textContent).toContain('A connected agent'));
  return host;
}

const made = (host: FakeHost) => host.connections.made.map(({ agent, action, shown }) => [agent, action, shown]);

describe('what is said of the agents', () => {
  test('each that is here stands with its program, its state, and what passes it by', async () => {
    await open();
    const claude = text('agent-claude-code');
    for (const words of [
      'Claude Code Not connected Connect…',
      '~/.local/bin/claude-code',
      '~/.claude-code/settings.json',
      'A hook that fails lets the call through. The command ends with 2',
      'switches all hooks off there. Nothing closes that.',
    ])
      expect(claude).toContain(words);
    expect(text('agent-codex')).toContain('Codex Connected Disconnect…');
    const other = text('agent-gemini-cli');
    expect(other).toContain('Connected by another program');
    expect(other).toContain('/opt/other/countersign');
    expect(text('agent-opencode')).toContain('no call is judged');
    expect(text('agent-opencode')).toContain('Program not found');
    expect(screen.queryByTestId('agent-cursor')).toBeNull();
    expect(text('connections-absent')).toBe('Not found on this machine: 1 Cursor');
    expect(await findSeriousFaults()).toEqual([]);
  });

  test.each([
    [{ type: 'changed' as const }, 'Changed since', 'not every call is judged', ['connect', 'disconnect']],
    [
      { type: 'switched_off' as const, switch: '/disableAllHooks' },
      'Switched off',
      'at /disableAllHooks: no call is judged',
      ['disconnect'],
    ],
    [
      {
        type: 'unreadable' as const,
        error: { message: '/home/mira/x.json cannot be edited.', hint: 'Correct it by hand.', context: [] },
      },
      'Cannot be read',
      '/home/mira/x.json cannot be edited. Correct it by hand.',
      [],
    ],
  ])('%o', async (state, word, meaning, actions) => {
    await open((host) => {
      host.connections.all[0]!.state = state;
    });
    const agent = within(at('agent-claude-code'));
    expect(agent.getByTestId('agent-state').textContent?.trim()).toBe(word);
    expect(agent.getByTestId('connection-meaning').textContent).toContain(meaning);
    const buttons = agent.queryAllByRole('button').map((button) => button.dataset['testid']);
    expect(buttons).toEqual([...actions, 'connect_servers'].map((action) => `${action}-claude-code`));
  });

  test('agents that cannot be listed say why, and are looked for again', async () => {
    const host = new FakeHost();
    const list = host.connections.list.bind(host.connections);
    host.connections.list = () => Promise.reject(new Error('There is no home folder.'));
    await openApp(host);
    await click('rail-connections');
    expect((await screen.findByTestId('connections-fault')).textContent).toContain('There is no home folder.');
    host.connections.list = list;
    await click('connections-again');
    await screen.findByTestId('agent-claude-code');
  });

  test('one that can answer here begins a session, with the agent chosen', async () => {
    await open((host) => {
      host.connections.all[0]!.acp = { program: '/opt/bin/claude-agent-acp', install: 'npm install -g x' };
    });
    expect(text('sessions-claude-code')).toBe('It can answer here, by /opt/bin/claude-agent-acp');
    expect(text('sessions-codex')).toBe('It can answer here once its program is installed: npm install -g codex');
    expect(screen.queryByTestId('session-codex')).toBeNull();
    await click('session-claude-code');
    const chosen = (await screen.findByTestId('answerer-claude-code')) as HTMLInputElement;
    await waitFor(() => expect(chosen.checked).toBe(true));
  });

  test('they are looked at again when the person comes back', async () => {
    const host = await open();
    host.connections.all[0]!.state = { type: 'connected' };
    await fireEvent.focus(window);
    await waitFor(() => expect(text('agent-claude-code')).toContain('Claude Code Connected'));
  });
});

describe('a change', () => {
  test('is shown first, and only that one is made; the focus goes along', async () => {
    const host = await open();
    await click('connect-claude-code');
    const change = await screen.findByTestId('connection-change');
    expect(change.textContent).toContain('countersign hook');
    expect(change.textContent).toContain('~/.local/share/countersign/connections/claude-code.before');
    await waitFor(() => expect(focused()).toBe('connection-change'));
    expect(made(host)).toEqual([]);
    expect(await findSeriousFaults()).toEqual([]);
    await click('connection-make');
    await waitFor(() => expect(text('agent-claude-code')).toContain('Claude Code Connected Disconnect…'));
    expect(screen.queryByTestId('connection-change')).toBeNull();
    expect(made(host)).toEqual([['claude-code', 'connect', 'digest-claude-code']]);
    await waitFor(() => expect(focused()).toBe('disconnect-claude-code'));
    expect(at('toast').textContent).toContain('Connected: Claude Code');
    expect(at('live').textContent).toBe('Connected: Claude Code.');

    await click('disconnect-claude-code');
    expect((await screen.findByTestId('connection-change')).textContent).toContain('Nobody judges its calls any more.');
    await click('connection-make');
    await waitFor(() => expect(text('agent-claude-code')).toContain('Not connected'));
    expect(made(host)[1]).toEqual(['claude-code', 'disconnect', 'digest-claude-code']);
  });

  test('is left by Escape, and nothing was made', async () => {
    const host = await open();
    await click('disconnect-codex');
    await fireEvent.keyDown(await screen.findByTestId('connection-change'), { key: 'Escape' });
    await waitFor(() => expect(focused()).toBe('disconnect-codex'));
    expect(screen.queryByTestId('connection-change')).toBeNull();
    expect(made(host)).toEqual([]);
  });

  test('that is refused says why at its agent, and has to be looked at again', async () => {
    const host = await open();
    host.connections.refusal = {
      message: '/home/mira/.codex/settings.json changed since this was shown.',
      hint: 'Look at it again. Nothing was changed.',
      context: [],
    };
    await click('disconnect-codex');
    await screen.findByTestId('connection-change');
    await click('connection-make');
    const refusal = await within(at('agent-codex')).findByTestId('connection-refusal');
    expect(refusal.textContent).toContain('changed since this was shown. Look at it again.');
    expect(screen.queryByTestId('connection-change')).toBeNull();
    expect(text('agent-codex')).toContain('Codex Connected');
    await click('disconnect-codex');
    await screen.findByTestId('connection-change');
    expect(screen.queryByTestId('connection-refusal')).toBeNull();
  });

  test('that leaves the file as it is says so', async () => {
    await open((host) => {
      const { connections } = host;
      const plan = connections.plan.bind(connections);
      connections.plan = async (agent, action) => {
        const found = await plan(agent, action);
        return found && { ...found, diff: { ...found.diff, hunks: [], removed: 0 } };
      };
    });
    await click('disconnect-opencode');
    const change = await screen.findByTestId('connection-change');
    expect(change.textContent).toContain('None of our hooks is left in the file.');
  });

  test('that was made elsewhere meanwhile is no change any more', async () => {
    const host = await open();
    host.connections.all[0]!.state = { type: 'connected' };
    await click('connect-claude-code');
    await waitFor(() => expect(text('agent-claude-code')).toContain('Claude Code Connected'));
    expect(screen.queryByTestId('connection-change')).toBeNull();
    await waitFor(() => expect(focused()).toBe('disconnect-claude-code'));
  });
});

describe('servers of an agent', () => {
  test('stand with their way, and those that stay say why', async () => {
    await open();
    const servers = text('servers-claude-code');
    for (const words of [
      'files Directly.',
      'database in ~/projects/shop Directly.',
      'old-tracker Directly. It is reached by the older transport of events (SSE)',
      'Servers of tools in ~/.claude.json',
    ])
      expect(servers).toContain(words);
    expect(screen.queryByTestId('restore_servers-claude-code'), 'none was connected').toBeNull();
    expect(text('servers-codex')).toContain('docs Through Countersign, which judges each call.');
    expect(screen.queryByTestId('connect_servers-codex'), 'each is connected').toBeNull();
    expect(text('servers-opencode')).toContain('There are none.');
    expect(text('servers-gemini-cli')).toContain('line 4 is not JSON. Correct it by hand');
    expect(within(at('servers-gemini-cli')).queryByRole('button')).toBeNull();
    expect(await findSeriousFaults()).toEqual([]);
  });

  test('are connected and put back as the change showed; the focus goes along', async () => {
    const host = await open();
    await click('connect_servers-claude-code');
    const change = await screen.findByTestId('connection-change');
    expect(change.textContent).toContain('"gateway"');
    expect(change.textContent).toContain('claude-code.servers.before');
    expect(text('connection-note')).toContain('old-tracker: It is reached by the older transport');
    expect(await findSeriousFaults()).toEqual([]);
    expect(made(host)).toEqual([]);
    expect(text('connection-make')).toBe('Connect the servers of Claude Code');
    await click('connection-make');
    await waitFor(() => expect(text('servers-claude-code')).toContain('files Through Countersign'));
    expect(made(host)).toEqual([['claude-code', 'connect_servers', 'digest-claude-code']]);
    await waitFor(() => expect(focused()).toBe('restore_servers-claude-code'));
    expect(at('live').textContent).toBe('Servers connected: Claude Code.');
    expect(text('agent-claude-code'), 'its hooks are another matter').toContain('Not connected');

    await click('restore_servers-claude-code');
    expect((await screen.findByTestId('connection-change')).textContent).toContain('It reaches them directly again');
    await click('connection-make');
    await waitFor(() => expect(text('servers-claude-code')).toContain('files Directly.'));
    expect(made(host)[1]).toEqual(['claude-code', 'restore_servers', 'digest-claude-code']);
  });

  test('can be put back also where the program of the agent is gone', async () => {
    await open((host) => {
      const cursor = host.connections.all.find(({ id }) => id === 'cursor')!;
      if (cursor.servers?.type === 'readable') cursor.servers.can_restore = true;
    });
    expect(screen.getByTestId('restore_servers-cursor')).toBeTruthy();
  });
});

describe('past sessions', () => {
  test('are counted where an agent keeps transcripts, and imported on request', async () => {
    const host = await open();
    expect(text('past-gemini-cli')).toBe('12 sessions in the last 7 days, in its own transcripts');
    expect(text('past-codex')).toBe('0 sessions in the last 7 days, in its own transcripts');
    expect(screen.queryByTestId('import-codex'), 'there is nothing to import').toBeNull();
    expect(screen.queryByTestId('past-opencode'), 'it keeps none that can be read').toBeNull();
    expect(await findSeriousFaults()).toEqual([]);
    await click('import-gemini-cli');
    await waitFor(() => expect(at('toast').textContent).toContain('Imported from Gemini CLI'));
    expect(at('toast').textContent).toContain('12 sessions added.');
    expect(at('live').textContent).toBe('Imported from Gemini CLI: 12 sessions added.');
    expect(host.connections.imported).toEqual(['gemini-cli']);
    await click('import-gemini-cli');
    await waitFor(() => expect(at('live').textContent).toContain('12 sessions had nothing new.'));
  });

  test('that cannot be imported say why at their agent', async () => {
    const host = await open();
    host.connections.refusal = { message: 'The record is full.', hint: 'Free some space.', context: [] };
    await click('import-gemini-cli');
    const refusal = await within(at('agent-gemini-cli')).findByTestId('connection-refusal');
    expect(refusal.textContent).toContain('The record is full. Free some space.');
  });
});
