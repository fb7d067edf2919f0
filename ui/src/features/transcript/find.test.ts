// The search within a session: over all of it, with the hit marked, opened and in the page.

import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { at, click, focused, openApp, text, type } from '../../app/app_page';
import { FakeHost } from '../../ipc/fake';
import { largeStream } from '../../ipc/fake_streams';
import { playTranscript } from '../../ipc/fake_transcript';
import type { Desk } from '../../state/desk.svelte';
import { findSeriousFaults } from '../../testing/accessibility';
import { findWords } from '../../widgets/marks';

const press = (key: string, more: KeyboardEventInit = {}) =>
  fireEvent.keyDown(document.activeElement ?? document.body, { key, ...more });
const count = () => text('find-count').replace(' The newest first', '');

async function open(host = new FakeHost(), session = 'ses_words'): Promise<{ host: FakeHost; desk: Desk }> {
  if (session === 'ses_words') playTranscript(host);
  const desk = await openApp(host);
  await click(`rail-session-${session}`);
  await screen.findByTestId('transcript');
  return { host, desk };
}

test('Ctrl F finds in the session alone, newest first, and Enter goes on to the older ones and round', async () => {
  const { host, desk } = await open();
  host.emit('ses_other', {
    type: 'session_opened',
    title: 'Other',
    workspace: '/x',
    model: { provider: 'demo', model: '' },
  });
  host.emit('ses_other', { type: 'person_said', message: 'm', text: 'cargo test', steering: false });
  await press('f', { ctrlKey: true });
  expect(focused()).toBe('find-box');
  await type('find-box', 'cargo test');
  await waitFor(() => expect(count()).toBe('1 of 4'));
  expect(desk.reading.found).toMatchObject({ id: 'call_words_14', words: ['cargo', 'test'] });
  const went = [];
  for (let n = 0; n < 4; n += 1) {
    const before = desk.reading.found?.id;
    await press('Enter');
    await waitFor(() => expect(desk.reading.found?.id).not.toBe(before));
    went.push(`${desk.reading.found?.id} ${count()}`);
  }
  expect(went).toEqual(['call_words_11 2 of 4', 'msg_a1 3 of 4', 'call_words_7 4 of 4', 'call_words_14 1 of 4']);
  await press('Enter', { shiftKey: true });
  await waitFor(() => expect(desk.reading.found?.id).toBe('call_words_7'));
  expect([focused(), await findSeriousFaults()]).toEqual(['find-box', []]);
});

test('a hit on a line is opened while the search stands at it, and stays open where the search ends', async () => {
  await open();
  await press('f', { ctrlKey: true });
  await type('find-box', 'grammar.md 88');
  await waitFor(() => expect(count()).toBe('Not found'));
  await type('find-box', 'src/lexer.rs');
  await screen.findByTestId('card-call_words_2');
  await type('find-box', 'src/eval.rs');
  await screen.findByTestId('card-call_words_3');
  expect(screen.queryByTestId('card-call_words_2')).toBeNull();
  await press('Escape');
  await waitFor(() => expect(focused()).toBe('card-call_words_3'));
  expect([screen.queryByTestId('find'), screen.queryByTestId('card-call_words_3') !== null]).toEqual([null, true]);
});

test('the thoughts of an agent are unfolded where they hold what was found', async () => {
  const { host } = await open();
  host.emit(
    'ses_words',
    { type: 'turn_started', message: 'msg_t', turn: 9 },
    { type: 'agent_said', message: 'msg_t', text: 'A dromedary has one hump.', reasoning: true },
    { type: 'agent_said', message: 'msg_t', text: 'One hump, as a dromedary.', reasoning: false },
  );
  await press('f', { ctrlKey: true });
  await type('find-box', 'dromedary');
  await waitFor(() => expect(at('message-msg_t').querySelector('details')?.open).toBe(true));
});

test('an entry far from the page is loaded', async () => {
  const { desk } = await open(new FakeHost(largeStream(3_000)), 'ses_large');
  expect(desk.page('ses_large')?.entries.length).toBeLessThan(500);
  await press('f', { ctrlKey: true });
  await type('find-box', '"Message 1234."');
  await waitFor(() => expect(desk.page('ses_large')?.entries.some(({ id }) => id === 'msg_1234')).toBe(true));
  expect(count()).toBe('1 of 1');
});

test('a filter that is not known is told, and another session begins without the search', async () => {
  await open();
  await press('f', { ctrlKey: true });
  await type('find-box', 'who:me');
  await waitFor(() => expect(count()).toContain('There is no filter'));
  await press('k', { ctrlKey: true });
  await click('command-desk');
  await click('rail-session-ses_words');
  expect(screen.queryByTestId('find')).toBeNull();
});

test('the palette opens it with the focus in its field', async () => {
  await open();
  await press('k', { ctrlKey: true });
  await type('palette-input', 'find in');
  await press('Enter');
  await waitFor(() => expect(focused()).toBe('find-box'));
});

test('words are found wherever they stand in an element, whatever their case', () => {
  const page = document.createElement('p');
  page.innerHTML = 'Sign <b>signs</b> a design';
  expect(findWords(page, ['sign']).map((range) => [range.toString(), range.startOffset])).toEqual([
    ['Sign', 0],
    ['sign', 0],
    ['sign', 5],
  ]);
});
