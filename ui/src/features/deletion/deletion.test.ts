// Deleting a session: from the list, the bar and the palette; nothing goes by a tap.

import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { expect, test, vi } from 'vitest';
import { at, click, focused, openApp, text } from '../../app/app_page';
import { FakeHost } from '../../ipc/fake';
import { Refused } from '../../ipc/desk';
import { parseStream } from '../../ipc/fake_streams';
import sample from '../../../../tests/golden/sample.jsonl?raw';
import { findSeriousFaults } from '../../testing/accessibility';
import { pass } from '../../testing/clock';
import type { Desk } from '../../state/desk.svelte';
import { describePreview } from './words';

/** Opens the window over the sessions of the golden stream, and one that has ended with calls. */
async function open(): Promise<{ host: FakeHost; desk: Desk; session: string }> {
  const host = new FakeHost(parseStream(sample));
  const desk = await openApp(host);
  const ended = desk.sessions.find(
    ({ id, state, parent }) =>
      state === 'done' &&
      !parent &&
      host.events.some((event) => event.session === id && event.body.type === 'call_proposed'),
  );
  if (!ended) throw new Error('the sample has no session that ended with calls');
  return { host, desk, session: ended.id };
}
const deletions = (host: FakeHost) => host.ops.filter(({ type }) => type === 'delete_session');

test('what goes is said first, and only a hold deletes', async () => {
  const { host, desk, session } = await open();
  desk.navigation.show(session);
  const calls = host.events.filter((event) => event.session === session && event.body.type === 'call_proposed').length;
  await click(`rail-menu-${session}`);
  await click(`rail-menu-${session}-delete`);
  await screen.findByTestId('delete-session');
  expect(text('delete-what')).toContain(`${calls} call`);
  expect(text('delete-session')).toContain('This cannot be undone.');
  expect(focused()).toBe('delete-keep');
  expect(await findSeriousFaults()).toEqual([]);

  await click('delete-now');
  await fireEvent.keyDown(at('delete-now'), { key: 'Enter' });
  await fireEvent.keyDown(at('delete-session'), { key: 'd' });
  await fireEvent.keyUp(at('delete-session'), { key: 'd' });
  expect(deletions(host)).toEqual([]);

  vi.useFakeTimers({ toFake: ['requestAnimationFrame', 'cancelAnimationFrame', 'performance'] });
  await fireEvent.keyDown(at('delete-session'), { key: 'd' });
  await pass(1_000);
  vi.useRealTimers();
  expect(deletions(host)).toEqual([{ type: 'delete_session', session, host: 'window' }]);
  await waitFor(() => expect(screen.queryByTestId(`rail-session-${session}`)).toBeNull());
  expect(desk.session(session)).toBeUndefined();
  expect(screen.queryByTestId('delete-session')).toBeNull();
  // The screen that was its own is the start now.
  expect(screen.queryByTestId('composer')).toBeNull();
  await waitFor(() => expect(screen.getByText('Session deleted')).toBeTruthy());
});

test('the bar and the palette ask the same, and a session is kept by Escape or the button', async () => {
  const { host, desk, session } = await open();
  desk.navigation.show(session);
  await screen.findByTestId('session-more');
  await click('session-more');
  await click('session-more-delete');
  await screen.findByTestId('delete-session');
  await fireEvent.keyDown(at('delete-session'), { key: 'Escape' });
  expect(screen.queryByTestId('delete-session')).toBeNull();

  await fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true });
  await fireEvent.click(await screen.findByText('Delete session…'));
  await screen.findByTestId('delete-session');
  await click('delete-keep');
  expect(screen.queryByTestId('delete-session')).toBeNull();
  expect(deletions(host)).toEqual([]);
});

test('why a session cannot be deleted is said, and nothing is asked', async () => {
  const { host, session } = await open();
  const fault = { message: 'The session is at work.', hint: 'Stop it first, then delete it.', context: [] };
  vi.spyOn(host, 'query').mockRejectedValue(new Refused(fault));
  await click(`rail-menu-${session}`);
  await click(`rail-menu-${session}-delete`);
  expect(await screen.findByText('Stop it first, then delete it.')).toBeTruthy();
  expect(screen.queryByTestId('delete-session')).toBeNull();
});

test('what goes is told in numbers', () => {
  const none = { calls: 1, sub_agents: 0, undo_entries: 0, undo_bytes: 0 };
  expect(describePreview(none)).toBe('1 call');
  expect(describePreview({ calls: 12, sub_agents: 1, undo_entries: 3, undo_bytes: 1_200_000 })).toBe(
    '12 calls, 1 session of a sub-agent, 3 copies for undo (1.2 MB)',
  );
});
