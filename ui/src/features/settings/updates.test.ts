// Newer versions in the settings: nothing is asked by itself, each step leads to the next, and what a release says is only shown.

import { screen, waitFor } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { at, click, focused, text } from '../../app/app_page';
import type { UpdateState, UpdateWay } from '../../ipc/bindings';
import { Refused } from '../../ipc/desk';
import { FakeHost } from '../../ipc/fake';
import { newerRelease as release } from '../../ipc/fake_updates';
import { findFaults, findSeriousFaults } from '../../testing/accessibility';
import { openSettings } from './settings_page';
import { nextStep, wordsOf } from './updates';

async function openUpdates(): Promise<FakeHost> {
  const host = new FakeHost();
  await openSettings('about', host);
  return host;
}
const step = () => text('update-step');

test('each step leads to the next, and none is taken by itself', async () => {
  const host = await openUpdates();
  expect([text('updates'), step(), host.updates.steps]).toEqual([
    expect.stringContaining('Not asked yet'),
    'Check now',
    [],
  ]);
  await click('update-step');
  host.updates.set({ type: 'checking' });
  await waitFor(() => expect(at('update-step').getAttribute('aria-disabled')).toBe('true'));
  await click('update-step');
  expect(host.updates.steps).toEqual(['check']);
  host.updates.set({ type: 'available', release });
  await waitFor(() => expect(step()).toBe('Download'));
  expect(text('updates')).toContain('Version 0.2.0');
  expect(text('update-notes')).toContain('Rules of a folder can be compared');
  expect(await findFaults(at('settings'))).toEqual([]);
  at('update-step').focus();
  await click('update-step');
  host.updates.set({ type: 'downloading', release, received_bytes: 3_000_000, total_bytes: 84_000_000 });
  expect(await screen.findByRole('progressbar', { name: 'Download' })).toHaveProperty('value', 3_000_000);
  expect(text('updates')).toContain('3 MB of 84 MB downloaded');
  expect(await findSeriousFaults()).toEqual([]);
  host.updates.set({ type: 'staged', release });
  await waitFor(() => expect(step()).toBe('Install and restart'));
  expect(focused()).toBe('update-step');
  await click('update-step');
  expect(host.updates.steps).toEqual(['check', 'download', 'install']);
});

test('a newer version shows as a dot at the settings and at their section, and as nothing louder', async () => {
  const host = new FakeHost();
  const desk = await openSettings('about', host);
  expect(screen.queryByTestId('rail-update')).toBeNull();
  host.updates.set({ type: 'available', release });
  await waitFor(() => expect(at('rail-settings').textContent).toBe('Settings, a newer version waits'));
  expect(at('section-about').textContent).toBe('About, a newer version waits');
  expect([screen.queryByRole('dialog'), desk.toasts.lines, desk.announced]).toEqual([null, [], '']);
  host.updates.set({ type: 'newest' });
  await waitFor(() => expect(screen.queryByTestId('rail-update')).toBeNull());
});

test('a refusal is told in place until the next step, and so is what went wrong by itself', async () => {
  const host = await openUpdates();
  host.updates.set({ type: 'staged', release });
  const waits = { message: 'A call waits for you, so nothing is installed now.', hint: 'Answer first.', context: [] };
  host.updates.onStep = () => Promise.reject(new Refused(waits));
  await waitFor(() => expect(step()).toBe('Install and restart'));
  await click('update-step');
  await waitFor(() => expect(text('update-fault')).toBe(`${waits.message} ${waits.hint}`));
  expect(step()).toBe('Install and restart');
  host.updates.onStep = () => Promise.resolve();
  await click('update-step');
  await waitFor(() => expect(screen.queryByTestId('update-fault')).toBeNull());
  host.updates.set({ type: 'unknown' }, { fault: { ...waits, message: 'The server cannot be reached.' } });
  await waitFor(() => expect(text('update-fault')).toContain('The server cannot be reached.'));
});

test('what the app does by itself is chosen, and is nothing at first', async () => {
  const host = await openUpdates();
  expect(at('set-updates-off').getAttribute('aria-pressed')).toBe('true');
  await click('set-updates-automatic');
  await waitFor(() => expect(text('updates')).toContain('never while a call runs or waits'));
  expect((await host.snapshot()).settings.updates).toEqual({ mode: 'automatic' });
});

test.each<[UpdateWay, string]>([
  ['package_manager', 'A package manager installed this copy'],
  ['sources', 'built from source'],
  ['no_key', 'has no key'],
])('a copy that does not update itself (%s) says what does', async (way, said) => {
  const host = await openUpdates();
  host.updates.set({ type: 'unknown' }, { way });
  await waitFor(() => expect(text('updates')).toContain(said));
  expect([screen.queryByTestId('update-step'), screen.queryByTestId('set-updates-off')]).toEqual([null, null]);
  expect(await findFaults(at('settings'))).toEqual([]);
});

test('notes of a release are text: no address in them is loaded or opened', async () => {
  const host = await openUpdates();
  const notes =
    '<img src="https://notes.example/x.png" onerror="alert(1)"> <script>alert(1)</script> [here](https://notes.example/)';
  host.updates.set({ type: 'available', release: { ...release, notes } });
  await waitFor(() => expect(text('update-notes')).toContain('here'));
  expect(at('update-notes').querySelectorAll('img, script, a, iframe')).toHaveLength(0);
});

test('a state without a step says what goes on', () => {
  const busy: UpdateState[] = [
    { type: 'checking' },
    { type: 'downloading', release, received_bytes: 12_000, total_bytes: null },
    { type: 'installing', release },
  ];
  expect(busy.map((state) => [nextStep(state), wordsOf(state).hint])).toEqual([
    [null, 'Asking the server with the releases…'],
    [null, '12 kB downloaded'],
    [null, 'Being installed…'],
  ]);
});
