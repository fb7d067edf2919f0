// The start of a session in which an agent of somebody else answers, and what such a session is called.

import { screen, waitFor, within } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { at, click, focused, openApp, text, type } from '../../app/app_page';
import { FakeHost } from '../../ipc/fake';
import { firstStart } from '../../ipc/fake_settings';
import { findSeriousFaults } from '../../testing/accessibility';

const PROGRAM = '/home/mira/.local/bin/claude-agent-acp';

/** A host with Claude Code's program, in a folder. */
function hostWithAgent(...given: ConstructorParameters<typeof FakeHost>): FakeHost {
  const host = new FakeHost(...given);
  host.connections.all[0]!.acp = { program: PROGRAM, install: 'npm install -g claude-agent-acp' };
  host.picked = '/home/mira/code/shop';
  return host;
}

async function openStart(host: FakeHost): Promise<void> {
  await openApp(host);
  await click('rail-new');
  await click('choose-folder');
  await screen.findByTestId('more-answerers');
}

/** The same, with everything in sight that can be chosen. */
async function openWhole(host: FakeHost): Promise<void> {
  await openStart(host);
  await click('more-answerers');
  await screen.findByTestId('answerer-codex');
}

test('what cannot answer yet or is seldom chosen is one entry while something else can, and opens to the first of it', async () => {
  await openStart(new FakeHost());
  expect(screen.queryByTestId('provider-openai')).toBeNull();
  expect(screen.queryByTestId('answerer-ssh')).toBeNull();
  expect(text('more-answerers')).toBe('MoreOpenAI · Other agents, another machine, a container');
  await click('more-answerers');
  await waitFor(() => expect(focused()).toBe('provider-openai'));
  expect(at('answerer-container')).toBeTruthy();
  expect(screen.queryByTestId('more-answerers')).toBeNull();
  expect(await findSeriousFaults()).toEqual([]);
});

const title = () => document.querySelector('.header-bar .where');

test('agents stand below the models; one that is not installed says what installs it, and cannot be chosen', async () => {
  await openWhole(hostWithAgent());
  const group = within(screen.getByRole('radiogroup', { name: 'Model or agent' }));
  const names = group.getAllByRole('radio').map((radio) => radio.dataset['testid']);
  expect(names.slice(-4)).toEqual(['answerer-claude-code', 'answerer-ssh', 'answerer-container', 'answerer-command']);
  expect(text('answerers-absent')).toContain('Not installed: Codex');
  expect(text('answerer-codex')).toBe('Codex npm install -g codex');
  expect(at('answerer-codex').querySelector('input')).toBeNull();
  expect(screen.queryByTestId('answerer-cursor'), 'it speaks no ACP').toBeNull();
  expect(await findSeriousFaults()).toEqual([]);
});

test('a session with an agent is called by its title, and says nothing of tokens', async () => {
  const host = hostWithAgent();
  await openStart(host);
  await click('start-advanced');
  await type('temperature', 'warm');
  await click('answerer-claude-code');
  expect(screen.queryByTestId('start-advanced'), 'an agent takes none of these').toBeNull();
  expect(screen.queryByTestId('model-menu')).toBeNull();
  expect(screen.queryByTestId('start-plan'), 'it cannot hand in a plan').toBeNull();
  await type('first-message', 'Look around');
  await click('start-session');
  const session = { provider: 'agent', model: 'claude-code' };
  await waitFor(() => expect(host.ops.at(-1)).toMatchObject({ type: 'open_session', model: session }));
  expect(host.ops.at(-1)).not.toHaveProperty('temperature');
  await waitFor(() => expect(title()?.textContent).toBe('shop · Claude Code'));
  const began = document.querySelector('[title^="Began"]')?.getAttribute('title') ?? '';
  expect(began).not.toContain('token');
  expect(screen.queryByTestId('plan-first')).toBeNull();
  await click('session-more');
  expect(screen.queryByTestId('session-more-plan')).toBeNull();
  expect(at('session-more-rename')).toBeTruthy();
  expect(document.querySelector('[data-testid^="rail-session-ses_new"]')?.getAttribute('title')).toBe(
    'Look around · Claude Code',
  );
});

test('a program that speaks the protocol is started by its command, and names the session', async () => {
  const host = hostWithAgent();
  await openWhole(host);
  await click('answerer-command');
  await click('start-session');
  expect(host.ops, 'no command yet').toEqual([]);
  await type('agent-command', ' /opt/agents/helper --acp ');
  expect(await findSeriousFaults()).toEqual([]);
  await click('start-session');
  const model = { provider: 'agent', model: '/opt/agents/helper --acp' };
  await waitFor(() => expect(host.ops.at(-1)).toMatchObject({ type: 'open_session', model }));
  await waitFor(() => expect(title()?.textContent).toBe('shop · helper'));
});

test('a Countersign on another machine or in a container is chosen by its name and its folder there', async () => {
  const host = hostWithAgent();
  await openWhole(host);
  await click('answerer-ssh');
  await click('start-session');
  expect(host.ops, 'no machine yet').toEqual([]);
  await type('elsewhere-name', 'build.example');
  await type('elsewhere-folder', '/srv/app');
  const ssh = 'ssh -a -T build.example countersign acp --workspace /srv/app';
  await waitFor(() => expect(text('elsewhere-command')).toBe(ssh));
  expect(await findSeriousFaults()).toEqual([]);
  await click('answerer-container');
  expect(screen.queryByTestId('elsewhere-command'), 'nothing is named yet').toBeNull();
  await click('elsewhere-runner-podman');
  await type('elsewhere-name', 'web');
  await type('elsewhere-folder', '/app');
  const model = { provider: 'agent', model: 'podman exec -i web countersign acp --workspace /app' };
  await waitFor(() => expect(text('elsewhere-command')).toBe(model.model));
  await click('start-session');
  await waitFor(() => expect(host.ops.at(-1)).toMatchObject({ type: 'open_session', model }));
  await waitFor(() => expect(title()?.textContent).toBe('shop · podman'));
});

test('an agent that does not ask works in a sandbox, with the hosts that are named', async () => {
  const host = hostWithAgent();
  await openWhole(host);
  expect(screen.queryByTestId('start-enclosed'), 'not for a model').toBeNull();
  await click('answerer-command');
  await type('agent-command', 'helper');
  expect(screen.queryByTestId('enclosed-hosts')).toBeNull();
  await click('start-enclosed');
  await type('enclosed-hosts', 'api.example.com, docs.example.com');
  expect(await findSeriousFaults()).toEqual([]);
  await click('start-session');
  const enclosure = { hosts: ['api.example.com', 'docs.example.com'] };
  await waitFor(() => expect(host.ops.at(-1)).toMatchObject({ type: 'open_session', enclosure }));
});

test('an agent that works elsewhere is offered no sandbox of this machine', async () => {
  const host = hostWithAgent();
  await openWhole(host);
  await click('answerer-command');
  await click('start-enclosed');
  await click('answerer-ssh');
  await type('elsewhere-name', 'other');
  await type('elsewhere-folder', '/srv');
  await waitFor(() => expect(screen.queryByTestId('start-enclosed')).toBeNull());
  await click('answerer-command');
  await type('agent-command', 'kubectl exec -i web -- agent');
  expect(screen.queryByTestId('start-enclosed')).toBeNull();
  await click('start-session');
  await waitFor(() => expect(host.ops.at(-1)).toMatchObject({ type: 'open_session' }));
  expect(host.ops.at(-1)).not.toHaveProperty('enclosure');
});

test('another agent is in the open again', async () => {
  const host = hostWithAgent();
  await openWhole(host);
  await click('answerer-command');
  await click('start-enclosed');
  await click('answerer-claude-code');
  expect(at('start-enclosed').getAttribute('aria-checked')).toBe('false');
  await click('start-session');
  await waitFor(() => expect(host.ops.at(-1)).toMatchObject({ type: 'open_session' }));
  expect(host.ops.at(-1)).not.toHaveProperty('enclosure');
});

test('where no model has a key, an installed agent is offered in place of the demo', async () => {
  await openStart(hostWithAgent([], { providers: firstStart() }));
  await waitFor(() => expect((at('answerer-claude-code') as HTMLInputElement).checked).toBe(true));
  expect(screen.queryByTestId('no-key')).toBeNull();
});

test('an agent that was installed meanwhile is there once the person comes back', async () => {
  const host = hostWithAgent();
  await openWhole(host);
  host.connections.all[1]!.acp = { program: '/usr/bin/codex-acp', install: '' };
  window.dispatchEvent(new Event('focus'));
  await waitFor(() => expect(at('answerer-codex').tagName).toBe('INPUT'));
});
