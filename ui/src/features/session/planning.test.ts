// Planning first: its switch beside the message box and at the start of a session, by press and by key.

import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { at, openApp } from '../../app/app_page';
import { FakeHost } from '../../ipc/fake';

const PLAN = { key: 'π', code: 'KeyP', altKey: true };

async function open(): Promise<FakeHost> {
  const host = new FakeHost();
  host.emit('s', { type: 'session_opened', title: 'Mend', workspace: '/w', model: { provider: 'demo', model: '' } });
  const desk = await openApp(host);
  desk.navigation.show('s');
  await screen.findByTestId('composer');
  return host;
}
const set = (host: FakeHost) => host.ops.flatMap((op) => (op.type === 'set_planning' ? [op.on] : []));

test('the switch beside the message box says how it stands, and what it does', async () => {
  const host = await open();
  expect(at('plan-first').getAttribute('aria-checked')).toBe('false');
  await fireEvent.click(at('plan-first'));
  await waitFor(() => expect(at('plan-first').getAttribute('aria-checked')).toBe('true'));
  expect(at('plan-first').textContent).toContain('Planning');
  expect(at('planning').textContent).toContain('Planning');
  await fireEvent.click(at('plan-first'));
  await waitFor(() => expect(screen.queryByTestId('planning')).toBeNull());
  expect(set(host)).toEqual([true, false]);
});

test('its key works while a message is written, and writes nothing', async () => {
  const host = await open();
  await fireEvent.input(at('composer'), { target: { value: 'Mend it' } });
  expect(await fireEvent.keyDown(at('composer'), PLAN)).toBe(false);
  await waitFor(() => expect(set(host)).toEqual([true]));
  expect((at('composer') as HTMLTextAreaElement).value).toBe('Mend it');
  // The letter alone is text, and Ctrl with it is somebody else's.
  await fireEvent.keyDown(at('composer'), { key: 'p', code: 'KeyP' });
  await fireEvent.keyDown(at('composer'), { ...PLAN, ctrlKey: true });
  expect(set(host)).toEqual([true]);
});

test('a session can begin with it', async () => {
  const host = await open();
  await fireEvent.click(at('rail-new'));
  await screen.findByTestId('start-plan');
  await fireEvent.click(at('start-plan'));
  await fireEvent.keyDown(at('first-message'), PLAN);
  await fireEvent.keyDown(at('first-message'), PLAN);
  expect(at('start-plan').getAttribute('aria-checked')).toBe('true');
  await fireEvent.input(at('first-message'), { target: { value: 'Mend it' } });
  await fireEvent.click(at('start-session'));
  await waitFor(() =>
    expect(host.ops).toContainEqual(
      expect.objectContaining({ type: 'open_session', prompt: 'Mend it', planning: true }),
    ),
  );
});
