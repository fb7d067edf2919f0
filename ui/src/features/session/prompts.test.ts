// Prompts of servers and skills in the message box: offered, chosen by keys, filled in, put there to be read, never sent.

import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { findSeriousFaults } from '../../testing/accessibility';
import { at, openApp, text } from '../../app/app_page';
import { filledPrompt, missingArguments, takenOf, typedIn } from './prompts';
import { FakeHost } from '../../ipc/fake';

const box = () => at('composer') as HTMLTextAreaElement;
const key = (name: string, element: HTMLElement = box()) => fireEvent.keyDown(element, { key: name });
const type = (value: string) => fireEvent.input(box(), { target: { value } });
const marked = () => document.querySelector('[role="option"][aria-selected="true"]')?.getAttribute('data-testid');
const said = (host: FakeHost) => host.ops.filter((op) => op.type === 'say');

async function open(prepare: (host: FakeHost) => void = () => {}): Promise<FakeHost> {
  const host = new FakeHost();
  prepare(host);
  host.emit('s', { type: 'session_opened', title: 'Mend', workspace: '/w', model: { provider: 'demo', model: '' } });
  const desk = await openApp(host);
  desk.navigation.show('s');
  await screen.findByTestId('composer');
  return host;
}

test('a slash at the beginning offers the prompts of servers that are on, and skills; arrows, words and Escape work', async () => {
  const host = await open();
  await type('a / b');
  expect(screen.queryByTestId('offered')).toBeNull();
  expect(host.queries('server_resources')).toEqual([]);
  await type('/');
  await screen.findByTestId('offer-chat/triage');
  await screen.findByTestId('offer-skill/release');
  await waitFor(() => expect(screen.queryByTestId('offers-asked')).toBeNull());
  const off = host.servers.all.filter((one) => !one.settings.enabled).map((one) => one.settings.id);
  const asked = host
    .queries('server_resources')
    .flatMap((query) => (query.type === 'server_resources' ? [query.server] : []));
  expect(asked).toContain('chat');
  expect(asked.filter((server) => off.includes(server))).toEqual([]);
  expect(await findSeriousFaults()).toEqual([]);
  const first = marked();
  await key('ArrowDown');
  expect(marked()).not.toBe(first);
  await key('ArrowUp');
  expect(marked()).toBe(first);
  await type('/open quest');
  expect(screen.getAllByRole('option').length).toBe(1);
  expect(box().getAttribute('aria-activedescendant')).toBe(screen.getByRole('option').id);
  await key('Escape');
  expect(screen.queryByTestId('offered')).toBeNull();
  expect(box().value).toBe('/open quest');
  await key('Enter');
  await waitFor(() => expect(said(host).length).toBe(1));
});

test('what a server wrote is put into the box and said to be its words: hidden characters out, what is no text told, nothing sent', async () => {
  const host = await open();
  await type('/triage');
  await screen.findByTestId('offer-chat/triage');
  await key('Enter');
  await waitFor(() =>
    expect(box().value).toBe(
      'Sort the open questions by who waits.\n[An image (image/png, 12 kB) was left out: this is text alone.]',
    ),
  );
  expect(text('prompt-taken')).toContain('The server chat wrote this');
  expect(text('prompt-taken')).toContain('1 hidden character was taken out: U+200B.');
  expect(await findSeriousFaults()).toEqual([]);
  expect(said(host)).toEqual([]);
  // Another one can be taken in its place.
  await type('/');
  expect(await screen.findByTestId('offer-chat/triage')).toBeTruthy();
  expect(screen.queryByTestId('prompt-taken')).toBeNull();
  await type('/triage');
  await key('Enter');
  await waitFor(() => expect(box().value).toContain('Sort the open questions'));
  await type(`${box().value} Briefly.`);
  expect(at('prompt-taken')).toBeTruthy();
  await key('Enter');
  await waitFor(() => expect(said(host).length).toBe(1));
  expect(screen.queryByTestId('prompt-taken')).toBeNull();
});

test('what a prompt needs is asked for first; Escape leaves the box as it was', async () => {
  const host = await open();
  await type('/summ');
  await screen.findByTestId('offer-chat/summary');
  await key('Enter');
  await screen.findByTestId('prompt-form');
  await waitFor(() => expect(document.activeElement).toBe(at('prompt-channel')));
  expect(await findSeriousFaults()).toEqual([]);
  await key('Escape', at('prompt-channel'));
  expect(screen.queryByTestId('prompt-form')).toBeNull();
  await waitFor(() => expect(document.activeElement).toBe(box()));
  expect(box().value).toBe('/summ');
  await key('Enter');
  await screen.findByTestId('prompt-form');
  await fireEvent.click(at('prompt-take'));
  expect(text('prompt-form')).toContain('The server gives nothing without it.');
  await fireEvent.input(at('prompt-channel'), { target: { value: 'general' } });
  await key('Enter', at('prompt-channel'));
  await waitFor(() => expect(box().value).toBe('Summarise what was said in #general, in ten lines.'));
  expect(host.queries('server_resources').at(-1)).toEqual({
    type: 'server_resources',
    server: 'chat',
    wanted: { type: 'prompt', name: 'summary', arguments: { channel: 'general' } },
  });
  await waitFor(() => expect(document.activeElement).toBe(box()));
  expect(said(host)).toEqual([]);
});

test('a server that fails or is slow says so, and the box stays as it was', async () => {
  const host = await open((host) => (host.servers.broken['files'] = 'it ended'));
  await type('/');
  await screen.findByTestId('offer-chat/triage');
  expect((await screen.findByTestId('offer-trouble')).textContent).toContain(
    'The mcp server files is unavailable: it ended.',
  );
  await type('/triage');
  host.servers.broken['chat'] = 'it ended too';
  await key('Enter');
  expect((await screen.findByTestId('prompt-fault')).textContent).toContain('it ended too');
  expect(box().value).toBe('/triage');
  delete host.servers.broken['chat'];

  // A server that never answers is waited for no longer, and a late answer is dropped.
  let answer: (value: never) => void = () => {};
  const query = host.query.bind(host);
  host.query = ((asked: Parameters<typeof query>[0]) =>
    asked.type === 'server_resources' && asked.wanted.type === 'prompt'
      ? new Promise((done) => (answer = done))
      : query(asked)) as typeof host.query;
  await key('Enter');
  await screen.findByTestId('prompt-fetching');
  expect(text('prompt-fetching')).toContain('Asking chat for triage');
  await fireEvent.click(at('prompt-stop'));
  await waitFor(() => expect(screen.queryByTestId('prompt-fetching')).toBeNull());
  answer({
    type: 'server_resources',
    resources: { type: 'text', parts: [{ by_model: false, text: [{ text: 'late', control: false }] }] },
  } as never);
  await new Promise((done) => setTimeout(done));
  expect(box().value).toBe('/triage');
  expect(said(host)).toEqual([]);
});

test('a skill is named in the box, and a line that fits nothing is sent as it stands', async () => {
  const host = await open();
  await type('/release');
  await screen.findByTestId('offer-skill/release');
  await key('Tab');
  await waitFor(() => expect(box().value).toBe('Use the skill release. '));
  expect(screen.queryByTestId('prompt-taken')).toBeNull();
  await type('');
  await type('/home/mira/x is broken');
  await screen.findByTestId('offers-none');
  await key('Enter');
  await waitFor(() => expect(said(host).map((op) => op.text)).toEqual(['/home/mira/x is broken']));
});

test.each([
  ['/', ''],
  ['/rev iew', 'rev iew'],
  ['a/', null],
  ['', null],
  ['/a\nb', null],
  [`/${'a'.repeat(80)}`, null],
])('%j looks for %j', (line, typed) => expect(typedIn(line)).toBe(typed));

test('what is filled in, and what lacks', () => {
  const asks = [
    { name: 'a', description: [], required: true },
    { name: 'b', description: [], required: false },
  ];
  expect([missingArguments(asks, {}), missingArguments(asks, { a: ' ' }), missingArguments(asks, { a: '1' })]).toEqual([
    ['a'],
    ['a'],
    [],
  ]);
  expect(filledPrompt(asks, { a: '1', b: '', c: '2' })).toEqual({ a: '1' });
});

test('who is to have said what is told where a server mixes both', () => {
  const part = (text: string, by_model = false) => ({ by_model, text: [{ text, control: false }] });
  expect(takenOf('s', 'p', [part('one'), part('two')]).text).toBe('one\n\ntwo');
  expect(takenOf('s', 'p', [part('one'), part('two', true), part('three')]).text).toBe(
    'one\n\n[As if the model had said:]\ntwo\n\n[As if you had said:]\nthree',
  );
});
