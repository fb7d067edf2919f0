// The card of a call whose server asks: the server's name, the values sent, and that nothing says yes by itself.

import { fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import { beforeEach, expect, test, vi } from 'vitest';
import { findSeriousFaults } from '../../../testing/accessibility';
import { at, openApp, text } from '../../../app/app_page';
import type { EventBody, FormField, ServerRequestKind } from '../../../ipc/bindings';
import { FakeHost } from '../../../ipc/fake';
import { showEverything } from '../deciding/in_view';

let clock = 0;
beforeEach(() => {
  clock = 10_000;
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  showEverything();
});
const press = (id: string) => fireEvent.click(at(id), { detail: 1 });
const key = (name: string, on: Element = at('card-c')) => fireEvent.keyDown(on, { key: name });
const plain = (words: string) => (words === '' ? [] : [{ text: words, control: false }]);

const trail = { verdict: 'ask' as const, lead: 'Asked.', otherwise: '', steps: [] };
const field = (name: string, more: Partial<FormField>): FormField => ({
  name,
  title: plain(name),
  description: [],
  required: true,
  kind: { type: 'text', format: null, chars_min: null, chars_max: null, default: null },
  ...more,
});
const fields: FormField[] = [
  field('repo', { title: plain('Repository'), description: plain('Which one.') }),
  field('token', { required: false, warning: 'This seems to ask for a secret.' }),
  field('size', { kind: { type: 'number', integer: true, min: 1, max: 9, default: 3 } }),
  field('fast', { required: false, kind: { type: 'boolean', default: null } }),
  field('kind', {
    kind: {
      type: 'choice',
      options: [
        { value: 'a', title: plain('First') },
        { value: 'b', title: plain('Second') },
      ],
      default: null,
    },
  }),
];

async function open(wants: ServerRequestKind): Promise<FakeHost> {
  const host = new FakeHost();
  const bodies: EventBody[] = [
    { type: 'session_opened', title: 'Ask', workspace: '/w', model: { provider: 'demo', model: '' } },
    {
      type: 'call_proposed',
      call: { id: 'c', name: 'notes__keep', arguments: { text: 'fern' } },
      message: 'm',
      reasoning: null,
    },
    {
      type: 'call_judged',
      call: 'c',
      tool: 'notes__keep',
      title: 'keep',
      target: 'fern',
      mode: null,
      kind: 'other',
      trail,
      preview: { type: 'nothing' },
      undo: { type: 'not_needed' },
    },
    { type: 'call_started', call: 'c' },
    {
      type: 'server_request_received',
      call: 'c',
      request_id: 'ask_1',
      request: {
        server: 'notes',
        message: [
          { text: 'Who', control: false },
          { text: 'U+200B', control: true },
        ],
        wants,
      },
      expires_at: null,
    },
  ];
  host.emit('s', ...bodies);
  await openApp(host);
  await screen.findByTestId('ask');
  clock += 1_000;
  return host;
}
const sent = (host: FakeHost) => host.ops.map((op) => (op.type === 'answer_server' ? op.answer : op.type));

test('a form says who asks, warns of what looks like a secret, and is sent as it was filled in', async () => {
  const host = await open({ type: 'form', fields });
  expect(text('ask')).toContain('The server notes asks you to fill in 5 fields.');
  expect(text('ask')).toContain('U+200B');
  expect(text('ask-warning-token')).toContain('This seems to ask for a secret.');
  expect((at('ask-token') as HTMLInputElement).type).toBe('password');
  expect((at('ask-size') as HTMLInputElement).value).toBe('3');
  expect(screen.queryByTestId('allow')).toBeNull();
  expect(await findSeriousFaults()).toEqual([]);
  await press('ask-yes');
  expect(text('ask-bad-repo')).toBe('Fill this in.');
  expect(text('ask-bad-kind')).toBe('Choose one.');
  await waitFor(() => expect(document.activeElement).toBe(at('ask-repo')));
  await fireEvent.input(at('ask-repo'), { target: { value: 'tidemark' } });
  await fireEvent.click(at('ask-kind-1'));
  await fireEvent.click(at('ask-fast-no'));
  await key('y', at('ask-repo'));
  expect(host.ops).toEqual([]);
  await key('y');
  await waitFor(() =>
    expect(sent(host)).toEqual([{ type: 'filled', values: { repo: 'tidemark', size: 3, fast: false, kind: 'b' } }]),
  );
  await waitFor(() => expect(screen.queryByTestId('ask')).toBeNull());
});

test('no and neither are two answers; both are told afterwards', async () => {
  const host = await open({ type: 'form', fields: [] });
  await press('ask-decline');
  await waitFor(() => expect(sent(host)).toEqual([{ type: 'declined' }]));
  host.emit('s', {
    type: 'server_request_received',
    call: 'c',
    request_id: 'ask_2',
    request: { server: 'notes', message: [], wants: { type: 'form', fields } },
    expires_at: null,
  });
  await waitFor(() => expect(text('ask')).toContain('5 fields'));
  expect(text('asked')).toContain('You declined.');
  await press('ask-dismiss');
  await waitFor(() => expect(sent(host).at(-1)).toEqual({ type: 'dismissed' }));
});

test('an address is shown whole with its host set apart, and opened by nobody but the person', async () => {
  const host = await open({
    type: 'address',
    url: 'https://user@bank.example.evil.example/login?next=bank',
    host: 'bank.example.evil.example',
    warnings: ['There is a name before the host.'],
  });
  expect(text('ask-address')).toContain('https://user@bank.example.evil.example/login?next=bank');
  expect(
    within(at('ask-address'))
      .getAllByText('bank.example.evil.example')
      .map((part) => part.tagName),
  ).toEqual(['B', 'B']);
  expect(text('ask-address-warning')).toBe('There is a name before the host.');
  expect(document.querySelector('a[href]')).toBeNull();
  expect(await findSeriousFaults()).toEqual([]);
  await press('ask-yes');
  await waitFor(() => expect(sent(host)).toEqual([{ type: 'opened' }]));
});

test('what a model would be sent is shown whole; Enter, Space and a yes too soon allow nothing', async () => {
  const host = await open({
    type: 'model',
    model: { provider: 'anthropic', model: 'claude-sonnet-5' },
    system: plain('Be brief.'),
    messages: [
      { by_model: false, text: plain('Sum this up.') },
      { by_model: true, text: plain('I will.') },
    ],
    tokens_max: 1_000,
    temperature: null,
  });
  expect(text('ask-model')).toContain('anthropic / claude-sonnet-5');
  expect(text('ask-model')).toContain('Be brief.');
  expect(text('ask-model')).toContain('As if the model had said');
  expect(await findSeriousFaults()).toEqual([]);
  for (const name of ['Enter', ' ']) {
    expect(await key(name, at('ask-yes'))).toBe(false);
    await key(name);
  }
  await fireEvent.click(at('ask-yes'), { detail: 0 });
  clock -= 900;
  await key('y');
  await press('ask-yes');
  expect(host.ops).toEqual([]);
  // A yes that comes too soon is announced: on its button, and to a screen reader.
  expect(within(at('ask-yes')).getByTestId('early').textContent).toBe('wait');
  expect(document.body.textContent).toContain(
    'Not counted: the card has only just come into view. Click again in a moment.',
  );
  await waitFor(() => expect(screen.queryByTestId('early')).toBeNull());
  clock += 900;
  await key('y');
  await waitFor(() => expect(sent(host)).toEqual([{ type: 'allowed' }]));
});

test('the tools that a model could call, and what they came to so far, are shown whole', async () => {
  await open({
    type: 'model',
    model: { provider: 'anthropic', model: 'claude-sonnet-5' },
    system: [],
    messages: [
      { by_model: false, text: plain('How many?') },
      { by_model: true, text: [], calls: [{ name: plain('count'), arguments: plain('{"of":"lines"}') }] },
      { by_model: false, text: plain('4'), result_of: plain('count') },
    ],
    tokens_max: 1_000,
    temperature: null,
    tools: [{ name: 'count', description: plain('Counts.'), parameters: plain('{"type":"object"}') }],
    tool_choice: 'required',
  });
  expect(text('ask-tools')).toBe('It has to call one of the server’s, which the server runs.');
  for (const told of ['Tool count', 'Counts.', '{"type":"object"}', 'Result of count', 'As if the model had said']) {
    expect(text('ask-model')).toContain(told);
  }
  expect(text('asked-call')).toBe('Calls count {"of":"lines"}');
  expect(await findSeriousFaults()).toEqual([]);
});

test('a yes to a question that was not laid out yet does not count, however long that takes', async () => {
  vi.unstubAllGlobals();
  const host = await open({ type: 'form', fields: [] });
  await key('y');
  await press('ask-yes');
  expect(host.ops).toEqual([]);
  expect(within(at('ask-yes')).getByTestId('early').textContent).toBe('wait');
});

test('an answer that is refused stays, and says why', async () => {
  const host = await open({ type: 'form', fields: [field('repo', {})] });
  vi.spyOn(host, 'submit').mockRejectedValueOnce(new Error('`repo` is too long.'));
  await fireEvent.input(at('ask-repo'), { target: { value: 'x' } });
  await press('ask-yes');
  await waitFor(() => expect(text('ask-refused')).toContain('too long'));
  expect((at('ask-repo') as HTMLInputElement).value).toBe('x');
  await key('n');
  await waitFor(() => expect(sent(host)).toEqual([{ type: 'declined' }]));
});

test('an address is opened by two presses of the person, and what was opened is no answer yet', async () => {
  const host = await open({
    type: 'address',
    url: 'https://auth.example/authorize?state=f3',
    host: 'auth.example',
    warnings: [],
  });
  await press('ask-open');
  expect(host.opened).toEqual([]);
  await press('ask-open-now');
  await waitFor(() => expect(host.opened).toEqual(['https://auth.example/authorize?state=f3']));
  expect(sent(host)).toEqual([]);
});

test('its answers stay in view while the card owns the keys, and the focus stays with the card once it is answered', async () => {
  const host = await open({ type: 'address', url: 'https://auth.example/', host: 'auth.example', warnings: [] });
  expect(at('ask').querySelector('footer')?.classList.contains('pinned')).toBe(true);
  at('ask-decline').focus();
  await press('ask-decline');
  await waitFor(() => expect(sent(host)).toEqual([{ type: 'declined' }]));
  await waitFor(() => expect(document.activeElement?.getAttribute('data-testid')).toBe('card-c'));
});
