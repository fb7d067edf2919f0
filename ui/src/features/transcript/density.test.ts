// The density of the transcript: chosen in its menu or the palette, kept on this machine.

import { screen, waitFor } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { at, click, openApp, text } from '../../app/app_page';
import { FakeHost } from '../../ipc/fake';
import { playTranscript } from '../../ipc/fake_transcript';
import { findSeriousFaults } from '../../testing/accessibility';

test('calls are folded by the menu, unfold, and stay folded in the next window', async () => {
  const host = new FakeHost();
  playTranscript(host);
  await openApp(host);
  await click('rail-session-ses_words');
  await screen.findByTestId('line-call_words_1');
  await click('session-view');
  await click('session-view-folded');
  const run = await screen.findByTestId('run-call_words_1');
  expect(run.textContent).toContain('8 calls: 5 reads, 2 commands, 1 search');
  expect([run.getAttribute('aria-expanded'), screen.queryByTestId('line-call_words_1')]).toEqual(['false', null]);
  expect(await findSeriousFaults()).toEqual([]);
  await click('run-call_words_1');
  expect([at('run-call_words_1').getAttribute('aria-expanded'), text('line-call_words_1')]).toEqual([
    'true',
    expect.stringContaining('src/parser.rs'),
  ]);
  await click('run-call_words_1');
  await waitFor(() => expect(screen.queryByTestId('line-call_words_1')).toBeNull());
  expect(localStorage.getItem('density')).toBe('folded');
});
