// A session that goes on from a message of another one: where it is offered, and what is sent.

import { fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { at, click, openApp } from '../../app/app_page';
import { SampleHost } from '../../gallery/host';
import InspectorPage from '../../gallery/InspectorPage.svelte';
import { entry, SESSION } from '../../gallery/sample_calls';
import { FakeHost } from '../../ipc/fake';
import type { ModelChoice, Op } from '../../ipc/bindings';
import { Desk } from '../../state/desk.svelte';
import { findSeriousFaults } from '../../testing/accessibility';

const DEMO: ModelChoice = { provider: 'demo', model: '' };

async function open(model = DEMO): Promise<FakeHost> {
  const host = new FakeHost();
  host.emit(
    's',
    { type: 'session_opened', title: 'Mend', workspace: '/w', model },
    { type: 'person_said', text: 'Mend the parser.', steering: false, message: 'msg_1' },
    { type: 'session_changed', state: 'done' },
  );
  const desk = await openApp(host);
  desk.navigation.show('s');
  await screen.findByTestId('message-msg_1');
  return host;
}
const forks = (host: FakeHost) => host.ops.filter((op: Op) => op.type === 'fork_session');
const composer = () => at('composer') as HTMLTextAreaElement;

test('a message is said differently in a fork, where it stands in the box', async () => {
  const host = await open();
  expect(await findSeriousFaults()).toEqual([]);
  await click('fork-msg_1');
  await waitFor(() => expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Fork of Mend'));
  expect(composer().value).toBe('Mend the parser.');
  expect(forks(host)).toEqual([{ type: 'fork_session', session: 's', before: 'msg_1' }]);
});

test('a whole session is forked from its menu, and nothing stands in the box', async () => {
  const host = await open();
  await click('session-more');
  await click('session-more-fork');
  await waitFor(() => expect(screen.getByRole('heading', { level: 1 }).textContent).toBe('Fork of Mend'));
  expect(composer().value).toBe('');
  expect(forks(host)).toEqual([{ type: 'fork_session', session: 's' }]);
});

test('a session is forked from the palette, where stopping one is never what Enter does first', async () => {
  const host = await open();
  await fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true });
  await click('command-fork');
  await waitFor(() => expect(forks(host)).toHaveLength(1));
  host.emit('ses_new_2', { type: 'session_changed', state: 'running' });
  await screen.findByTestId('stop');
  await fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true });
  const first = (await screen.findAllByRole('option'))[0];
  expect(first?.getAttribute('data-testid')).not.toBe('command-stop');
  expect(screen.queryByTestId('command-fork')).toBeNull();
  expect(screen.queryByTestId('command-stop')).not.toBeNull();
});

test('a session at work is not forked from a message', async () => {
  const host = await open();
  host.emit('s', { type: 'session_changed', state: 'running' });
  await waitFor(() => expect(screen.queryByTestId('fork-msg_1')).toBeNull());
  host.emit('s', { type: 'session_changed', state: 'done' });
  await screen.findByTestId('fork-msg_1');
});

test('a call of the other session says where it was judged, and leads there', async () => {
  const call = entry('c_forked', { forked_from: SESSION, trail: null, state: 'done' });
  const desk = await Desk.open(new SampleHost([call]));
  render(InspectorPage, { desk, entry: call });
  await click('tab-why');
  expect(at('not-judged').textContent).toBe('Not judged here.');
  await click('open-forked-from');
  await waitFor(() => expect(desk.navigation.view).toMatchObject({ screen: 'session', session: SESSION }));
});

test('an agent of somebody else keeps its conversation itself, so it is not offered there', async () => {
  await open({ provider: 'agent', model: 'claude-code' });
  expect(screen.queryByTestId('fork-msg_1')).toBeNull();
  await click('session-more');
  expect(screen.queryByTestId('session-more-fork')).toBeNull();
});
