// What leads on from a turn that failed: by its cause, and only while nothing else happened.

import { screen, waitFor } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { at, click, focused, openApp, text } from '../../app/app_page';
import sample from '../../../../tests/golden/sample.jsonl?raw';
import type { EventBody, FaultCause, UserError } from '../../ipc/bindings';
import { FakeHost } from '../../ipc/fake';
import { withoutKeychain } from '../../ipc/fake_settings';
import { parseStream } from '../../ipc/fake_streams';
import { findSeriousFaults } from '../../testing/accessibility';
import { waysOn, type WayOn } from './failure';

const faultOf = (cause?: FaultCause): UserError => ({
  message: 'It failed.',
  hint: 'Do something.',
  context: [],
  ...(cause && { cause }),
});
const refusedKey: UserError = {
  ...faultOf('key_refused'),
  message: 'Anthropic refused the key from ANTHROPIC_API_KEY (401): invalid x-api-key.',
};
const session = (await new FakeHost(parseStream(sample)).snapshot()).sessions.find(({ id }) => id === 'ses_0002')!;

test.each<[FaultCause | undefined, readonly WayOn[]]>([
  ['key_refused', ['change-key', 'again']],
  ['key_missing', ['enter-key', 'again']],
  ['model_unknown', ['new-session']],
  ['payment_required', ['change-key', 'again']],
  ['provider_not_set_up', ['provider', 'again']],
  [undefined, ['again']],
])('%s', (cause, ways) => {
  const situation = { session, last: true, known: true };
  expect(waysOn(faultOf(cause), situation)).toEqual(ways);
  expect(waysOn(faultOf(cause), { ...situation, last: false }), 'dealt with').toEqual([]);
  expect(waysOn(faultOf(cause), { ...situation, session: { ...session, state: 'running' } })).toEqual([]);
});

test('an agent of somebody else has no key here', () => {
  expect(waysOn(refusedKey, { session, last: true, known: false })).toEqual(['again']);
});

/** A host on which a turn of the last session failed. */
function failing(fault: UserError, ...given: ConstructorParameters<typeof FakeHost>): FakeHost {
  const host = new FakeHost(...given);
  const ended = { usage: { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_usd: null }, duration_ms: 1 };
  const bodies: EventBody[] = [
    { type: 'session_opened', title: 'Fix it', workspace: '/w', model: { provider: 'anthropic', model: 'm' } },
    { type: 'turn_started', turn: 1, message: 'msg_1' },
    { type: 'turn_ended', turn: 1, message: 'msg_1', error: fault, opaque: null, ...ended },
    { type: 'session_changed', state: 'failed' },
  ];
  host.emit('ses_x', ...bodies);
  return host;
}

test('a refused key is changed at its field, and the way back leads to trying again', async () => {
  const host = failing(refusedKey);
  const desk = await openApp(host);
  await click('rail-session-ses_x');
  await screen.findByTestId('failure-change-key');
  expect(await findSeriousFaults()).toEqual([]);
  await click('failure-change-key');
  await waitFor(() => expect(focused()).toBe('key-field'));
  expect(at('key-anthropic').getAttribute('aria-expanded')).toBe('true');
  await click('settings-back');
  expect(desk.navigation.view).toEqual({ screen: 'session', session: 'ses_x' });
  await click('failure-again');
  expect(host.ops).toEqual([{ type: 'resume', session: 'ses_x' }]);
  await waitFor(() => expect(screen.queryByTestId('failure-again')).toBeNull());
});

test('a missing key without a keychain is asked for this run, and says how one is set for good', async () => {
  await openApp(failing(faultOf('key_missing'), [], { providers: withoutKeychain() }));
  await click('rail-session-ses_x');
  await screen.findByTestId('failure-enter-key');
  expect(text('failure-enter-key')).toBe('Enter a key…');
  await click('failure-enter-key');
  await waitFor(() => expect(focused()).toBe('key-field'));
  expect(text('key-no-keychain')).toContain('ANTHROPIC_API_KEY');
});
