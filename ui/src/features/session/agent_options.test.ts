// The options of an agent of somebody else: a menu for each below the session's bar, kept up to date and set.

import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { at, click, focused, openApp, text } from '../../app/app_page';
import type { AgentOption } from '../../ipc/bindings';
import { FakeHost } from '../../ipc/fake';

const mode: AgentOption = {
  id: 'mode',
  name: 'Mode',
  value: 'default',
  values: [
    { value: 'default', name: 'Manual', description: 'Always asks.' },
    { value: 'auto', name: 'Auto', warning: 'It may act without asking in this mode.' },
  ],
};
const model: AgentOption = {
  id: 'model',
  name: 'Model',
  value: 'opus',
  values: [
    { value: 'opus', name: 'Opus' },
    { value: 'haiku', name: 'Haiku' },
  ],
};
const alone: AgentOption = { id: 'voice', name: 'Voice', value: 'one', values: [{ value: 'one', name: 'One' }] };

async function open(options: AgentOption[]): Promise<FakeHost> {
  const host = new FakeHost();
  const agent = { provider: 'agent', model: 'claude-code' };
  host.emit('s', { type: 'session_opened', title: 'Mend', workspace: '/w', model: agent });
  if (options.length > 0) host.emit('s', { type: 'agent_options_changed', options });
  const desk = await openApp(host);
  desk.navigation.show('s');
  await screen.findByTestId('composer');
  return host;
}
const set = (host: FakeHost) => host.ops.filter((op) => op.type === 'set_agent_option');

test('a window that opens later has a menu for each option with a choice', async () => {
  await open([mode, model, alone]);
  await screen.findByTestId('agent-options');
  expect(text('agent-options')).toBe('Mode Manual Model Opus');
  expect(at('agent-option-mode').getAttribute('aria-label')).toBe('Mode: Manual');
  expect(screen.queryByTestId('agent-option-voice')).toBeNull();
});

test('a value is chosen at the keyboard, and one in which the agent may act without asking says so', async () => {
  const host = await open([mode, model]);
  await screen.findByTestId('agent-options');
  await click('agent-option-mode');
  await waitFor(() => expect(focused()).toBe('agent-option-mode-default'));
  expect(text('agent-option-mode-auto')).toBe('AutoIt may act without asking in this mode.');
  await fireEvent.keyDown(at('agent-option-mode-default'), { key: 'ArrowDown' });
  expect(focused()).toBe('agent-option-mode-auto');
  await click('agent-option-mode-auto');
  expect(set(host)).toEqual([{ type: 'set_agent_option', session: 's', option: 'mode', value: 'auto' }]);
  await waitFor(() => expect(text('agent-options')).toBe('Mode Auto Model Opus'));
  expect(text('agent-option-model')).toBe('Opus');
});

test('what the agent itself changes is shown, and an option that it takes back is gone', async () => {
  const host = await open([mode, model]);
  await screen.findByTestId('agent-options');
  host.emit('s', { type: 'agent_options_changed', options: [{ ...model, value: 'haiku' }] });
  await waitFor(() => expect(text('agent-options')).toBe('Model Haiku'));
  host.emit('s', { type: 'agent_options_changed', options: [] });
  await waitFor(() => expect(screen.queryByTestId('agent-options')).toBeNull());
});

test('a session whose agent offers nothing has no menus', async () => {
  await open([]);
  expect(screen.queryByTestId('agent-options')).toBeNull();
});

test('how full the context of the agent is stands in the bar, once the agent tells it', async () => {
  const host = await open([]);
  expect(screen.queryByText(/of context/)).toBeNull();
  host.emit('s', { type: 'agent_context_changed', context: { used: 250, size: 1000 } });
  await screen.findByText(/25% of context/);
});

test('a session of our own agent has menus for its model and its effort', async () => {
  const host = new FakeHost();
  host.models = ['gpt-5', 'gpt-5-mini'];
  const own = { provider: 'openai', model: 'gpt-5' };
  host.emit('s', { type: 'session_opened', title: 'Mend', workspace: '/w', model: own });
  const desk = await openApp(host);
  desk.navigation.show('s');
  await screen.findByTestId('agent-options');
  expect(text('agent-options')).toBe('Model gpt-5 Effort Default');
  await click('agent-option-effort');
  await click('agent-option-effort-high');
  await waitFor(() => expect(text('agent-options')).toBe('Model gpt-5 Effort High'));
  await click('agent-option-model');
  await click('agent-option-model-openai/gpt-5-mini');
  await waitFor(() => expect(text('agent-options')).toBe('Model gpt-5-mini Effort High'));
  expect(set(host)).toEqual([
    { type: 'set_agent_option', session: 's', option: 'effort', value: 'high' },
    { type: 'set_agent_option', session: 's', option: 'model', value: 'openai/gpt-5-mini' },
  ]);
  expect(desk.session('s')?.model).toEqual({ provider: 'openai', model: 'gpt-5-mini' });
});
