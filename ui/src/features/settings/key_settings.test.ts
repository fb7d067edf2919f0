// The keys in the settings: changed, taken from another command, refused, put back, and shown everywhere as they are now.

import { fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import { describe, expect, test, vi } from 'vitest';
import { at, click, focused, openApp, text, type } from '../../app/app_page';
import sample from '../../../../tests/golden/sample.jsonl?raw';
import type { Settings } from '../../ipc/bindings';
import { Refused } from '../../ipc/desk';
import { FakeHost } from '../../ipc/fake';
import { emptySnapshot } from '../../ipc/fake_settings';
import { parseStream } from '../../ipc/fake_streams';
import { findFaults } from '../../testing/accessibility';
import { openSettings, sectionsShown } from './settings_page';

const hostWith = (settings: Partial<Settings> = {}) =>
  new FakeHost(parseStream(sample), { settings: { ...emptySnapshot().settings, ...settings } });
const press = (key: string, more: object = {}) =>
  fireEvent.keyDown(document.activeElement ?? document.body, { key, ...more });
const kept = async (host: FakeHost) => (await host.snapshot()).settings.keys;
/** The keys in the row of a command. */
const keysOf = (id: string) =>
  [...(at(`keys-change-${id}`).closest('li')?.querySelectorAll('kbd:not(.vh)') ?? [])].map((cap) => cap.textContent);
/** Changes the keys of a command by a press. */
async function change(id: string, key: string, more: object = {}): Promise<void> {
  await click(`keys-change-${id}`);
  expect(focused()).toBe('new-keys');
  await press(key, more);
}

describe('new keys', () => {
  test('are pressed, saved, told, and shown; the focus stays with the command', async () => {
    const host = hostWith();
    const desk = await openSettings('keys', host);
    expect(keysOf('search')).toEqual(['/']);
    await change('search', 'F', { ctrlKey: true, shiftKey: true });
    await waitFor(() => expect(focused()).toBe('keys-change-search'));
    expect([keysOf('search'), await kept(host)]).toEqual([['Ctrl ⇧F'], { search: 'Ctrl+Shift+F' }]);
    expect(desk.announced).toBe('Search: Ctrl Shift F');
    await press('F', { ctrlKey: true, shiftKey: true });
    expect(desk.navigation.view.screen).toBe('search');
  });

  test('do nothing else while they are recorded, and a modifier alone is waited on', async () => {
    const host = hostWith();
    const desk = await openSettings('keys', host);
    await change('settings', 'Control', { ctrlKey: true });
    await press('k', { ctrlKey: true });
    expect(screen.queryByTestId('palette')).toBeNull();
    expect([desk.navigation.view.screen, text('new-keys-form')]).toEqual([
      'settings',
      expect.stringContaining('Ctrl K is a key of “Commands”.'),
    ]);
    expect(host.ops).toEqual([]);
  });

  test('are left with Escape and with Cancel, and nothing is changed', async () => {
    const host = hostWith();
    await openSettings('keys', host);
    await click('keys-change-allow');
    await press('Escape');
    await waitFor(() => expect(focused()).toBe('keys-change-allow'));
    await click('keys-change-allow');
    await press('Tab');
    await click('new-keys-cancel');
    await waitFor(() => expect(focused()).toBe('keys-change-allow'));
    expect(host.ops).toEqual([]);
  });

  test('can be none', async () => {
    const host = hostWith();
    await openSettings('keys', host);
    await click('keys-change-search');
    await click('new-keys-none');
    await waitFor(() => expect(focused()).toBe('keys-change-search'));
    expect(at('keys-change-search').closest('li')?.textContent).toContain('No key');
    expect([keysOf('search'), await kept(host)]).toEqual([[], { search: '' }]);
  });

  test.each([
    ['Enter', {}, 'never allow'],
    [' ', { ctrlKey: true }, 'never allow'],
    ['c', { ctrlKey: true }, 'copy, paste'],
    ['ArrowDown', {}, 'moves or deletes'],
    ['Tab', { ctrlKey: true }, 'moves the focus'],
  ])('that cannot be had are refused in words: %j %o', async (key, more, why) => {
    const host = hostWith();
    await openSettings('keys', host);
    await change('allow', key, more);
    await waitFor(() => expect(at('new-keys').getAttribute('aria-invalid')).toBe('true'));
    expect(text('new-keys-form')).toContain(why);
    expect(document.getElementById(at('new-keys').getAttribute('aria-describedby') ?? '')?.textContent).toContain(why);
    expect([host.ops, await findFaults(at('settings'))]).toEqual([[], []]);
    await press('F8');
    await waitFor(() => expect(keysOf('allow')).toEqual(['F8']));
  });
});

describe('keys that another command has', () => {
  test('are shown as its keys, and stay with it', async () => {
    const host = hostWith();
    await openSettings('keys', host);
    await change('allow', 'n');
    expect(text('new-keys-form')).toContain('N is a key of “Reject”.');
    expect(await findFaults(at('settings'))).toEqual([]);
    await click('new-keys-leave');
    await waitFor(() => expect(focused()).toBe('keys-change-allow'));
    expect([host.ops, keysOf('allow'), keysOf('reject')]).toEqual([[], ['Y'], ['N']]);
  });

  test('are taken away from it, and come back with its usual keys', async () => {
    const host = hostWith();
    await openSettings('keys', host);
    await change('allow', 'n');
    await click('new-keys-take');
    await waitFor(() => expect(keysOf('allow')).toEqual(['N']));
    expect([keysOf('reject'), await kept(host)]).toEqual([[], { allow: 'N', reject: '' }]);
    await click('keys-reset-reject');
    expect(text('new-keys-form')).toContain('N is a key of “Allow”.');
    await click('new-keys-take');
    await waitFor(() => expect(keysOf('reject')).toEqual(['N']));
    expect([keysOf('allow'), await kept(host)]).toEqual([[], { allow: '' }]);
  });
});

test('one command gets its usual keys back, and all of them', async () => {
  const host = hostWith({ keys: { search: 'F3', keys: 'F1', zoom_in: '' } });
  await openSettings('keys', host);
  expect(at('keys-reset-all').hasAttribute('disabled')).toBe(false);
  await click('keys-reset-zoom_in');
  await waitFor(() => expect(keysOf('zoom_in')).toEqual(['Ctrl +', 'Ctrl =']));
  expect(await kept(host)).toEqual({ search: 'F3', keys: 'F1' });
  await click('keys-reset-all');
  await waitFor(() => expect([keysOf('search'), keysOf('keys')]).toEqual([['/'], ['?']]));
  expect(await kept(host)).toEqual({});
  expect(at('keys-reset-all').hasAttribute('disabled')).toBe(true);
});

test('what the file says and gives no command a key stands there, and can be removed', async () => {
  const host = hostWith({ keys: { fnid: 'Ctrl+H', allow: 'Enter' } });
  await openSettings('keys', host);
  expect(text('keys-ignored')).toContain('“fnid” is no command.');
  expect(text('keys-ignored')).toContain('never allow');
  expect([keysOf('allow'), await findFaults(at('settings'))]).toEqual([['Y'], []]);
  await fireEvent.click(within(at('keys-ignored')).getByLabelText('Remove: fnid'));
  await waitFor(async () => expect(await kept(host)).toEqual({ allow: 'Enter' }));
});

describe('from the rest of the desktop', () => {
  test('the oldest call is shown by keys that can be heard everywhere, off at first', async () => {
    const host = hostWith();
    await openSettings('keys', host);
    expect(keysOf('oldest_call')).toEqual([]);
    await change('oldest_call', 'o');
    expect(text('new-keys-form')).toContain('Every program gets these keys');
    await press('o', { metaKey: true, altKey: true });
    await waitFor(() => expect(keysOf('oldest_call')).toEqual(['Alt Meta O']));
    expect((await host.snapshot()).settings.desktop).toEqual({ start_at_login: false, shortcut: 'Alt+Super+O' });
  });

  test('a refusal of the system is told in place, and the old keys stay', async () => {
    const host = hostWith();
    const desk = await openSettings('keys', host);
    const refusal = new Refused({
      message: 'Another program has Ctrl+Alt+O.',
      hint: 'Choose other keys.',
      context: [],
    });
    vi.spyOn(host, 'submit').mockRejectedValueOnce(refusal);
    await change('oldest_call', 'o', { ctrlKey: true, altKey: true });
    await waitFor(() => expect(text('new-keys-refused')).toBe('Another program has Ctrl+Alt+O. Choose other keys.'));
    expect([desk.toasts.lines, desk.keymap.keyOf('oldest_call')]).toEqual([[], undefined]);
    expect(await findFaults(at('settings'))).toEqual([]);
    await press('Escape');
    await waitFor(() => expect(screen.queryByTestId('new-keys-refused')).toBeNull());
    expect(keysOf('oldest_call')).toEqual([]);
  });

  test('the app starts with the desktop, or says why it cannot', async () => {
    const host = hostWith();
    const desk = await openSettings('keys', host);
    vi.spyOn(host, 'submit').mockRejectedValueOnce(
      new Refused({ message: 'The folder cannot be written.', hint: 'Make it writable.', context: [] }),
    );
    await click('set-start-at-login');
    await waitFor(() => expect(text('start-at-login-refused')).toContain('The folder cannot be written.'));
    expect([at('set-start-at-login').getAttribute('aria-checked'), desk.toasts.lines]).toEqual(['false', []]);
    await click('set-start-at-login');
    await waitFor(() => expect(at('set-start-at-login').getAttribute('aria-checked')).toBe('true'));
    expect(desk.settings.desktop).toEqual({ start_at_login: true });
  });
});

test('commands are found by their names, their keys, and what they do', async () => {
  await openSettings('about');
  await type('settings-search', 'run a command with the network');
  await waitFor(() => expect(sectionsShown()).toEqual(['settings-keys']));
  expect(screen.queryByTestId('keys-change-allow')).toBeNull();
  expect(at('keys-change-network')).toBeTruthy();
});

describe('changed keys are shown', () => {
  const keys = {
    find_in_session: 'F3',
    keys: 'F1',
    allow: 'F8',
    rail: 'Ctrl+Shift+B',
    settings: 'F10',
    next_card: 'F6',
  };
  const shown = (id: string) => [...at(id).querySelectorAll('kbd:not(.vh)')].map((cap) => cap.textContent);

  test('in the help, which leads to the settings', async () => {
    const desk = await openApp(hostWith({ keys }));
    await press('?');
    expect(screen.queryByTestId('keys')).toBeNull();
    await press('F1');
    expect(shown('keys')).toEqual(expect.arrayContaining(['F3', 'F8', 'Ctrl ⇧B', 'F1']));
    expect(shown('keys')).not.toContain('Y');
    await click('change-keys');
    expect(desk.navigation.view).toEqual({ screen: 'settings', section: 'keys' });
  });

  test('in the palette, on the card, on the Desk, and in names for a screen reader', async () => {
    await openApp(hostWith({ keys }));
    await press('k', { ctrlKey: true });
    expect([shown('command-settings'), shown('command-keys')]).toEqual([['F10'], ['F1']]);
    await fireEvent(at('palette'), new Event('cancel', { cancelable: true }));
    const [answer] = screen.getAllByTestId('allow');
    expect(answer?.getAttribute('aria-keyshortcuts')).toBe('F8');
    expect(within(answer as HTMLElement).getByText('F8')).toBeTruthy();
    expect(at('rail-settings').getAttribute('aria-keyshortcuts')).toBe('F10');
    expect(text('desk-keys')).toBe('F6 K next, previous · F1 all keys · Enter and Space never allow.');
  });

  test('in a tooltip, and nothing where there is no key', async () => {
    const desk = await openApp(hostWith({ keys: { inspector: 'Ctrl+I' } }));
    expect([at('toggle-inspector').title, at('toggle-inspector').getAttribute('aria-label')]).toEqual([
      'Inspector (Ctrl I)',
      'Inspector',
    ]);
    await desk.set({ keys: { inspector: '' } });
    await waitFor(() => expect(at('toggle-inspector').title).toBe('Inspector'));
    expect(at('toggle-inspector').hasAttribute('aria-keyshortcuts')).toBe(false);
  });
});

test('changed keys with a modifier work in the message box, and never over an open list', async () => {
  const desk = await openApp(hostWith({ keys: { search: 'Ctrl+Shift+F', inspector: 'Ctrl+I' } }));
  await click('rail-session-ses_0006');
  at('composer').focus();
  const before = screen.queryByTestId('panel') !== null;
  await press('i', { ctrlKey: true });
  await waitFor(() => expect(screen.queryByTestId('panel') !== null).toBe(!before));
  await press('k', { ctrlKey: true });
  at('palette-input').focus();
  await press('F', { ctrlKey: true, shiftKey: true });
  expect(desk.navigation.view.screen).toBe('session');
});

test('a lone letter in the message box is taken for an answer by the key that answers now', async () => {
  const host = hostWith({ keys: { allow: 'F' } });
  await openApp(host);
  await click('rail-session-ses_0006');
  for (const letter of ['f', 'y']) {
    at('composer').focus();
    await type('composer', letter);
    await press('Enter');
  }
  await waitFor(() => expect(host.ops).toEqual([expect.objectContaining({ type: 'say', text: 'y' })]));
});
