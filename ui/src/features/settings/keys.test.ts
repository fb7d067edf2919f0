// Keys of providers: entered in place, refused in place, and not asked for where none can be kept.

import { screen, waitFor } from '@testing-library/svelte';
import { expect, test, vi } from 'vitest';
import { at, click, focused, openApp, text, type } from '../../app/app_page';
import type { KeyState, ProviderView } from '../../ipc/bindings';
import { Refused } from '../../ipc/desk';
import { FakeHost } from '../../ipc/fake';
import { emptySnapshot, firstStart, withoutKeychain } from '../../ipc/fake_settings';
import { canKeepKeys, lacksKey } from '../../domain/keys/keychain';
import { findFaults, findSeriousFaults } from '../../testing/accessibility';
import { openSettings } from './settings_page';

const keychainRefusal = new Refused({
  message: 'The system keychain cannot be used here.',
  hint: 'Use an environment variable for the key.',
  context: [],
  cause: 'keychain_unusable',
});
const field = () => at('key-field') as HTMLInputElement;

test('what is refused is told at its field, and stays there', async () => {
  const host = new FakeHost([], { providers: firstStart() });
  const desk = await openSettings('providers', host);
  vi.spyOn(host, 'submit').mockRejectedValueOnce(
    new Refused({ message: 'The keychain is locked.', hint: 'Unlock it.', context: [] }),
  );
  await click('key-openai');
  await type('key-field', 'sk-1');
  await click('key-save');
  await waitFor(() => expect(text('key-refused')).toBe('The keychain is locked. Unlock it.'));
  expect([field().value, field().getAttribute('aria-invalid'), desk.toasts.lines]).toEqual(['sk-1', 'true', []]);
  expect(await findFaults(at('settings'))).toEqual([]);
  await click('key-save');
  await waitFor(() => expect(screen.queryByTestId('key-entry')).toBeNull());
  expect(host.ops).toEqual([{ type: 'set_key', provider: 'openai', key: 'sk-1' }]);
  await waitFor(() => expect(focused()).toBe('key-openai'));
});

test('without a keychain a key is kept for this run only, and what lasts longer is said before it is typed', async () => {
  const host = new FakeHost([], { providers: withoutKeychain() });
  await openSettings('providers', host);
  expect(text('no-keychain')).toContain('No key can be kept on this machine');
  await click('key-anthropic');
  expect(text('key-no-keychain')).toContain('set the environment variable ANTHROPIC_API_KEY');
  expect(text('key-no-keychain')).toContain('start it there again');
  expect(screen.queryByTestId('key-save')).toBeNull();
  expect(await findSeriousFaults()).toEqual([]);
  await type('key-field', 'sk-1');
  await click('key-run');
  await waitFor(() => expect(screen.queryByTestId('key-entry')).toBeNull());
  expect(host.ops).toEqual([{ type: 'set_key', provider: 'anthropic', key: 'sk-1', lasts: 'run' }]);
});

test('with a keychain a key can be kept for this run only as well', async () => {
  const host = new FakeHost([], { providers: firstStart() });
  await openSettings('providers', host);
  await click('key-openai');
  await type('key-field', 'sk-1');
  await click('key-run');
  await waitFor(() => expect(screen.queryByTestId('key-entry')).toBeNull());
  expect(host.ops).toEqual([{ type: 'set_key', provider: 'openai', key: 'sk-1', lasts: 'run' }]);
});

test('a keychain that turns out not to work is no longer offered, and the key can be kept for this run', async () => {
  const host = new FakeHost([], { providers: firstStart() });
  await openSettings('providers', host);
  vi.spyOn(host, 'submit').mockRejectedValueOnce(keychainRefusal);
  await click('key-openai');
  await type('key-field', 'sk-1');
  await click('key-save');
  await screen.findByTestId('key-no-keychain');
  expect(screen.queryByTestId('key-save')).toBeNull();
  // What was typed stays, and can be used.
  expect(field().value).toBe('sk-1');
  await click('key-run');
  await waitFor(() => expect(screen.queryByTestId('key-entry')).toBeNull());
  expect(host.ops).toEqual([{ type: 'set_key', provider: 'openai', key: 'sk-1', lasts: 'run' }]);
});

test('the start asks for a key in the row of the provider, and its session can begin at once', async () => {
  const host = new FakeHost([], { providers: firstStart() });
  await openApp(host);
  await click('choose-folder');
  await type('first-message', 'Look around');
  await click('enter-key');
  await waitFor(() => expect(focused()).toBe('key-field'));
  expect(at('not-ready').contains(field())).toBe(true);
  expect(await findSeriousFaults()).toEqual([]);
  await type('key-field', 'sk-1');
  await click('key-save');
  await waitFor(() => expect(screen.queryByTestId('not-ready')).toBeNull());
  await waitFor(() => expect(focused()).toBe('provider-anthropic'));
  expect((at('first-message') as HTMLTextAreaElement).value).toBe('Look around');
  await type('model', 'claude-sonnet-5');
  await click('start-session');
  await waitFor(() => expect(host.ops.at(-1)).toMatchObject({ type: 'open_session', prompt: 'Look around' }));
});

test('the start without a keychain asks for a key for this run, and says how one is set for good', async () => {
  await openApp(new FakeHost([], { providers: withoutKeychain().filter(({ id }) => id !== 'ollama') }));
  expect(text('enter-key')).toBe('Enter a key…');
  await click('enter-key');
  expect(text('key-no-keychain')).toContain('ANTHROPIC_API_KEY');
  await click('key-cancel');
  await waitFor(() => expect(focused()).toBe('to-key'));
});

test.each<[KeyState, boolean]>([
  ['missing', true],
  ['refused', true],
  ['found', false],
  ['not_needed', false],
])('a provider whose key is %s lacks one: %s', (state, lacks) => {
  const [provider] = firstStart() as [ProviderView, ...ProviderView[]];
  const view: ProviderView = { ...provider, key: { ...provider.key, state } };
  expect(lacksKey(view)).toBe(lacks);
  expect(lacksKey({ ...view, ready: true })).toBe(false);
});

test('whether keys can be kept', () => {
  expect([canKeepKeys(emptySnapshot().providers), canKeepKeys(withoutKeychain())]).toEqual([true, false]);
});
