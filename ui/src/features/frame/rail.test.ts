// The rail of a narrow window: icons, and names over the screen on request.

import { fireEvent, waitFor } from '@testing-library/svelte';
import { beforeEach, expect, test, vi } from 'vitest';
import { at, click, focused, openApp } from '../../app/app_page';
import { FakeHost } from '../../ipc/fake';
import { findSeriousFaults } from '../../testing/accessibility';

const NARROW = 760;

async function open(): Promise<void> {
  const host = new FakeHost();
  const model = { provider: 'demo', model: '' };
  host.emit('one', { type: 'session_opened', title: 'Mend the parser', workspace: '/home/mira/code/shop', model });
  await openApp(host);
}
const rail = (): Element | null => document.querySelector('nav.rail');
const isOver = (): boolean => rail()?.classList.contains('over') ?? false;
const press = () => fireEvent.keyDown(document.body, { key: 'b', ctrlKey: true });

beforeEach(() => {
  vi.stubGlobal('innerWidth', NARROW);
});

test('a key opens the names over the screen, with the focus in them, and Esc closes them', async () => {
  await open();
  expect(rail()?.classList.contains('icons')).toBe(true);
  await press();
  await waitFor(() => expect(isOver()).toBe(true));
  expect(at('rail-names').getAttribute('aria-expanded')).toBe('true');
  expect(rail()?.contains(document.activeElement)).toBe(true);
  expect(await findSeriousFaults()).toEqual([]);
  await fireEvent.keyDown(document.activeElement!, { key: 'Escape' });
  await waitFor(() => expect(isOver()).toBe(false));
  expect(focused()).toBe('rail-names');
});

test('the button opens them, and a session that is chosen there closes them', async () => {
  await open();
  await click('rail-names');
  await waitFor(() => expect(isOver()).toBe(true));
  await click('rail-session-one');
  await waitFor(() => expect(isOver()).toBe(false));
  expect(at('rail-session-one').getAttribute('aria-current')).toBe('page');
});

test('they close once the focus is elsewhere', async () => {
  vi.spyOn(document, 'hasFocus').mockReturnValue(true);
  await open();
  await click('rail-names');
  await waitFor(() => expect(isOver()).toBe(true));
  document.querySelector<HTMLElement>('main')?.focus();
  await waitFor(() => expect(isOver()).toBe(false));
});

test('a wide window has them beside the icons, and the key does nothing there', async () => {
  vi.stubGlobal('innerWidth', 1080);
  await open();
  await press();
  expect(rail()?.className).not.toMatch(/icons|over/);
});
