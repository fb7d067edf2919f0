// The keys that jump within a session: cards that wait, errors, messages of the person; each says where it went.

import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { tick } from 'svelte';
import { expect, test } from 'vitest';
import { FakeHost } from '../ipc/fake';
import { playTranscript } from '../ipc/fake_transcript';
import type { EventBody } from '../ipc/bindings';
import type { Desk } from '../state/desk.svelte';
import { click, focused, openApp, text, type } from './app_page';

const press = (key: string) => fireEvent.keyDown(document.activeElement ?? document.body, { key });
const live = () => text('live');

async function open(host = new FakeHost(), session = 'ses_words'): Promise<{ host: FakeHost; desk: Desk }> {
  if (session === 'ses_words') playTranscript(host);
  const desk = await openApp(host);
  await click(`rail-session-${session}`);
  await screen.findByTestId('transcript');
  document.getElementById('main')?.focus();
  return { host, desk };
}
const waits = (call: string): EventBody[] => [
  { type: 'call_proposed', call: { id: call, name: 'read', arguments: {} }, message: `m_${call}`, reasoning: null },
  {
    type: 'call_judged',
    call,
    tool: 'read',
    title: 'Read',
    target: `/etc/${call}`,
    mode: 'read',
    kind: 'read',
    trail: { verdict: 'ask', lead: 'Asked.', otherwise: '', steps: [] },
    preview: { type: 'nothing' },
    undo: { type: 'not_needed' },
  },
  { type: 'call_waiting', call, digest: `d_${call}`, grants: [], refreshed: null, expires_at: null },
];

test('[ and ] go from message to message of the person, and say when there is no other', async () => {
  await open();
  await press('[');
  await waitFor(() => expect(live()).toBe('Your message: Let somebody review it.'));
  await waitFor(() => expect(document.activeElement?.textContent).toContain('Let somebody review it.'));
  await press('[');
  await waitFor(() => expect(live()).toBe('Your message: Fix it, with a test.'));
  await press('[');
  await waitFor(() => expect(live()).toContain('Why does `-2^2` give 4?'));
  await press('[');
  await waitFor(() => expect(live()).toBe('No earlier message of yours.'));
  expect(text('toast')).toContain('No earlier message of yours.');
  await press(']');
  await waitFor(() => expect(live()).toBe('Your message: Fix it, with a test.'));
});

test('a jump goes on from where the one before it went, though the row that it came from is taken away', async () => {
  const { desk } = await open();
  await press('[');
  const focusedRow = () => document.activeElement?.closest('[data-row]') ?? null;
  await waitFor(() => expect(focusedRow()?.textContent).toContain('Let somebody review it.'));
  const row = focusedRow();
  if (!row) throw new Error('no row has the focus');
  const from = desk.reading.seq;
  expect(from).not.toBeNull();
  // The next jump has begun, and its page comes in place of the row.
  desk.reading.seq = 1;
  await fireEvent.focusOut(row);
  expect(desk.reading.seq).toBe(1);
  // A reader who only leaves the row is at none.
  desk.reading.seq = from;
  await fireEvent.focusOut(row);
  expect(desk.reading.seq).toBeNull();
});

test('a message before the page is found by asking for earlier entries', async () => {
  const host = new FakeHost();
  const message = (n: number): EventBody[] => [
    { type: 'turn_started', message: `msg_${n}`, turn: n },
    { type: 'agent_said', message: `msg_${n}`, text: `Step ${n}.`, reasoning: false },
  ];
  host.emit(
    'ses_long',
    { type: 'session_opened', title: 'Long', workspace: '/x', model: { provider: 'demo', model: '' } },
    { type: 'person_said', message: 'msg_first', text: 'Begin.', steering: false },
    ...Array.from({ length: 900 }, (_, n) => message(n + 1)).flat(),
  );
  const { desk } = await open(host, 'ses_long');
  await press('[');
  await waitFor(() => expect(live()).toBe('Your message: Begin.'));
  await waitFor(() => expect(desk.page('ses_long')?.entries[0]?.id).toBe('msg_first'));
});

test('x goes from error to error, from the newest back and round, also by the palette', async () => {
  const { host } = await open();
  host.emit('ses_words', {
    type: 'notice_added',
    notice: { level: 'error', fault: { message: 'The disk is full.', hint: 'Make room.', context: [] } },
  });
  await screen.findByText('The disk is full.');
  document.getElementById('main')?.focus();
  await press('x');
  await waitFor(() => expect(live()).toBe('Error: The disk is full.'));
  await press('x');
  await waitFor(() => expect(live()).toBe('Error: Run cargo test -p parser'));
  await waitFor(() => expect(focused()).toBe('card-call_words_11'));
  await fireEvent.keyDown(document.activeElement!, { key: 'k', ctrlKey: true });
  await type('palette-input', 'next error');
  await fireEvent.keyDown(document.activeElement!, { key: 'Enter' });
  await waitFor(() => expect(live()).toBe('Error: The disk is full.'));
});

test('c goes from card to card and round, and says when none waits', async () => {
  const { host } = await open();
  await press('c');
  await waitFor(() => expect(live()).toBe('No call waits in this session.'));
  host.emit('ses_words', ...waits('call_a'), ...waits('call_b'));
  await screen.findByTestId('card-call_a');
  await waitFor(() => expect(focused()).toBe('card-call_a'));
  await press('c');
  expect([live(), focused()]).toEqual(['Card 2 of 2: Read /etc/call_b', 'card-call_b']);
  await press('c');
  expect([live(), focused()]).toEqual(['Card 1 of 2: Read /etc/call_a', 'card-call_a']);
});

test('what the engine tells meanwhile moves no focus to the message box', async () => {
  const { host, desk } = await open();
  screen.getByTestId('composer').focus();
  await new Promise((drawn) => requestAnimationFrame(drawn));
  document.getElementById('main')?.focus();
  host.emit('ses_words', { type: 'session_renamed', title: 'Renamed meanwhile' });
  await waitFor(() => expect(desk.session('ses_words')?.title).toBe('Renamed meanwhile'));
  await tick();
  expect(document.activeElement?.id).toBe('main');
  await press('[');
  await waitFor(() => expect(live()).toBe('Your message: Let somebody review it.'));
});

test('the letters jump nowhere while they are text, and on other screens', async () => {
  const { desk } = await open();
  const box = screen.getByTestId('composer');
  box.focus();
  await press('x');
  await click('rail-rules');
  await press('x');
  expect([desk.announced, desk.navigation.view]).toEqual(['', { screen: 'rules' }]);
});
