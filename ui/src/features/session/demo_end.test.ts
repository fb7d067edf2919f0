// The end of the demo, in the place of the message box.

import { screen, waitFor } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { at, click, openApp } from '../../app/app_page';
import type { EventBody } from '../../ipc/bindings';
import { FakeHost } from '../../ipc/fake';
import { findSeriousFaults } from '../../testing/accessibility';

const opened = (provider: string): EventBody => ({
  type: 'session_opened',
  title: 'Count the lines',
  workspace: '/home/mira/code/tally',
  model: { provider, model: '' },
});

test('the end of the demo leads on, and takes no message that nobody would answer', async () => {
  const host = new FakeHost();
  host.emit('demo', opened('demo'), { type: 'session_changed', state: 'running' });
  const desk = await openApp(host, (desk) => desk.navigation.show('demo'));
  expect(at('composer')).toBeTruthy();
  host.emit('demo', { type: 'session_changed', state: 'done' });
  await screen.findByTestId('demo-end');
  expect(screen.queryByTestId('composer')).toBeNull();
  expect(await findSeriousFaults()).toEqual([]);
  await click('demo-next');
  await waitFor(() => expect(desk.navigation.view.screen).toBe('start'));
});

test('a session with a model takes messages when it is done', async () => {
  const host = new FakeHost();
  host.emit('one', opened('anthropic'), { type: 'session_changed', state: 'done' });
  await openApp(host, (desk) => desk.navigation.show('one'));
  expect(at('composer')).toBeTruthy();
  expect(screen.queryByTestId('demo-end')).toBeNull();
});
