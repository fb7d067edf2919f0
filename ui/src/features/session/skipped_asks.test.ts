// Skipping asks for a while: begun in the bar, counted down, listed, and ended by a key.

import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { at, click, openApp, text } from '../../app/app_page';
import { FakeHost } from '../../ipc/fake';
import { findSeriousFaults } from '../../testing/accessibility';
import { skipsAsks, timeLeft } from '../../state/skipped_asks';
import type { Desk } from '../../state/desk.svelte';

const MINUTE = 60_000;

async function open(): Promise<{ host: FakeHost; desk: Desk }> {
  const host = new FakeHost();
  for (const session of ['s', 'other']) {
    const model = { provider: 'openai', model: 'gpt-5' };
    host.emit(session, { type: 'session_opened', title: `Mend ${session}`, workspace: '/w', model });
    host.emit(session, { type: 'session_changed', state: 'running' });
  }
  const desk = await openApp(host);
  desk.navigation.show('s');
  await screen.findByTestId('composer');
  return { host, desk };
}

test('a session skips asks for a chosen while, tells how long still and what passed, and a key ends it', async () => {
  const { host, desk } = await open();
  host.passed = [{ session: 's', call: 'c', at: 0, title: 'Shell', target: 'npm test\u{202e}' }];
  expect(screen.queryByTestId('skipped-asks-s')).toBeNull();
  await click('session-skip');
  await click('session-skip-skip-15');
  expect(host.ops.at(-1)).toEqual({ type: 'skip_asks', session: 's', minutes: 15 });
  await screen.findByTestId('skipped-asks-s');
  await waitFor(() => expect(text('skip-list')).toBe('1 call passed'));
  desk.now = desk.session('s')!.skipped_asks!.since + 30_500;
  await waitFor(() => expect(text('skip-left')).toBe('14:30 left'));
  await click('skip-list');
  expect(text('skipped-calls')).toContain('Shell npm test');
  expect(text('skipped-calls'), 'what hides is named').not.toContain('\u{202e}');
  expect(await findSeriousFaults()).toEqual([]);
  await fireEvent.keyDown(document.body, { key: '.' });
  expect(host.ops.at(-1)).toEqual({ type: 'resume_asks', session: 's' });
  await waitFor(() => expect(screen.queryByTestId('skipped-asks-s')).toBeNull());
  // Where nothing is skipped, the key asks for nothing.
  const before = host.ops.length;
  await fireEvent.keyDown(document.body, { key: '.' });
  expect(host.ops.length).toBe(before);
});

test('the Desk names every session that skips asks, and each is ended there', async () => {
  const { host, desk } = await open();
  desk.navigation.go('desk');
  await desk.submit({ type: 'skip_asks', session: null, minutes: 5 });
  await screen.findByTestId('skipped-asks-other');
  expect(text('skipped-asks-s')).toContain('Mend s: asks are skipped');
  at('skipped-asks-s').querySelector<HTMLElement>('[data-testid="ask-again"]')!.click();
  await waitFor(() => expect(screen.queryByTestId('skipped-asks-s')).toBeNull());
  expect(host.ops.at(-1)).toEqual({ type: 'resume_asks', session: 's' });
  expect(screen.queryByTestId('skipped-asks-other')).not.toBeNull();
});

test('a time that is over counts as none', async () => {
  const { host, desk } = await open();
  host.emit('s', { type: 'asks_skipped', until: host.now() + MINUTE });
  await screen.findByTestId('skipped-asks-s');
  desk.now = host.now() + 2 * MINUTE;
  await waitFor(() => expect(screen.queryByTestId('skipped-asks-s')).toBeNull());
  const session = desk.session('s')!;
  expect(skipsAsks(session, host.now())).toBe(true);
  expect(timeLeft({ ...session, skipped_asks: { seq: 1, since: 0, until: 3_661_000 } }, 0)).toBe('1:01:01 left');
  expect(timeLeft({ ...session, skipped_asks: { seq: 1, since: 0, until: null } }, 0)).toBe(
    'until the session is closed',
  );
});
