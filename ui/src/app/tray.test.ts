// A call that the person chose in the tray is shown where it waits; nothing of it is decided.

import { screen, waitFor } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import sample from '../../../tests/golden/sample.jsonl?raw';
import { FakeHost } from '../ipc/fake';
import { parseStream } from '../ipc/fake_streams';
import { openApp } from './app_page';

test('a call that was chosen in the tray is opened in its session', async () => {
  const host = new FakeHost(parseStream(sample));
  const desk = await openApp(host);
  const [oldest] = desk.waiting;
  if (!oldest) throw new Error('no call of the sample waits');
  desk.navigation.go('search');
  expect(host.chooseInTray(oldest.session, oldest.id)).toBe(true);
  await waitFor(() => expect(desk.navigation.view).toEqual({ screen: 'session', session: oldest.session }));
  await waitFor(() => expect(screen.queryAllByTestId(/^card-/).length).toBeGreaterThan(0));
  expect(host.ops).toEqual([]);
});
