// What was chosen outside the window, in the tray or by a link, is shown where it is; nothing of it is decided.

import { screen, waitFor } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import sample from '../../../tests/golden/sample.jsonl?raw';
import { FakeHost } from '../ipc/fake';
import { parseStream } from '../ipc/fake_streams';
import { openApp } from './app_page';

const toasts = () => screen.queryAllByTestId('toast').map(({ textContent }) => textContent);

test('a call that was chosen in the tray is opened in its session', async () => {
  const host = new FakeHost(parseStream(sample));
  const desk = await openApp(host);
  const [oldest] = desk.waiting;
  if (!oldest) throw new Error('no call of the sample waits');
  desk.navigation.go('search');
  expect(host.chooseOutside(oldest.session, oldest.id)).toBe(true);
  await waitFor(() => expect(desk.navigation.view).toEqual({ screen: 'session', session: oldest.session }));
  await waitFor(() => expect(screen.queryAllByTestId(/^card-/).length).toBeGreaterThan(0));
  expect(host.ops).toEqual([]);
});

test('a link opens its session, and says so where that is not on record', async () => {
  const host = new FakeHost(parseStream(sample));
  const desk = await openApp(host);
  const [session] = desk.sessions;
  if (!session) throw new Error('the sample has no session');
  desk.navigation.go('search');
  expect(host.chooseOutside(session.id, null)).toBe(true);
  await waitFor(() => expect(desk.navigation.view).toEqual({ screen: 'session', session: session.id }));
  host.chooseOutside('ses_gone', null);
  await waitFor(() => expect(toasts()).toHaveLength(1));
  expect(toasts()[0]).toContain('This session is not on record');
  expect(desk.navigation.view).toEqual({ screen: 'session', session: session.id });
  expect(host.ops).toEqual([]);
});
