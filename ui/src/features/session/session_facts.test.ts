// What stands beside a session while no call is selected.

import { screen } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { openApp, text } from '../../app/app_page';
import { FakeHost } from '../../ipc/fake';
import { findSeriousFaults } from '../../testing/accessibility';

test('the panel beside a session tells of it until a call is selected', async () => {
  const host = new FakeHost();
  const model = { provider: 'anthropic', model: 'claude-opus-5' };
  const workspace = '/home/mira/code/tally';
  host.emit(
    'one',
    { type: 'session_opened', title: 'Count the lines', workspace, model },
    {
      type: 'turn_ended',
      turn: 1,
      usage: { input_tokens: 12_000, output_tokens: 300, cached_tokens: 9_000, cost_usd: 0.25 },
      duration_ms: 900,
      error: null,
      message: 'msg_1',
      opaque: null,
    },
  );
  const desk = await openApp(host, (desk) => desk.navigation.show('one'));
  desk.selection.inspectorOpen = true;
  await screen.findByTestId('session-facts');
  for (const words of [
    'Folder ~/code/tally',
    'Model claude-opus-5',
    'Posture Ask first',
    'Tokens 12,000 read, 9,000 of them cached; 300 written',
    'Cost $0.2500',
  ])
    expect(text('session-facts')).toContain(words);
  expect(await findSeriousFaults()).toEqual([]);
});
