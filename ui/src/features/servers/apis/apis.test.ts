// The services of the Servers screen: their look, and approving, adding, switching and removing them, also by keys.

import { screen, waitFor, within } from '@testing-library/svelte';
import { describe, expect, test } from 'vitest';
import { findSeriousFaults } from '../../../testing/accessibility';
import { at, click, openApp, type } from '../../../app/app_page';
import { draftOf, problemsOf, setupOf } from './setup';
import { apiSetup } from '../../../ipc/fake_apis';
import { FakeHost } from '../../../ipc/fake';

const changes = (host: FakeHost) =>
  host.ops.flatMap((op) => (op.type === 'change_api' ? [[op.api, op.change] as const] : []));

async function open(prepare: (host: FakeHost) => void = () => undefined): Promise<FakeHost> {
  const host = new FakeHost();
  prepare(host);
  await openApp(host);
  await click('rail-servers');
  await click('servers-kind-apis');
  return host;
}

test('each stands with its state, and what of it waits for a look is approved as it was shown', async () => {
  const host = await open();
  await screen.findByTestId('api-orders');
  expect(at('api-orders').textContent).toContain('3 operations');
  expect(within(at('api-orders')).getByTestId('mark-look').textContent).toContain('1 to look at');
  expect(at('server-waiting').textContent).toContain('sends your address along');
  expect(at('tools-sum').textContent).toBe('3 operations: 1 changed');
  await click('api-tool-DELETE /orders/{id}');
  expect(at('api-tools').textContent).toContain('cannot be undone from here');
  expect(await findSeriousFaults()).toEqual([]);
  await click('server-approve');
  await waitFor(() => expect(screen.queryByTestId('server-waiting')).toBeNull());
  expect(changes(host)).toEqual([['orders', { type: 'approve', digest: 'digest-orders' }]]);
  await waitFor(() => expect(document.activeElement).toBe(at('api-tab-tools')));
});

test('its setup is read with its secrets as references', async () => {
  await open();
  await screen.findByTestId('api-orders');
  await click('api-tab-setup');
  expect(at('api-setup').textContent).toContain('orders-api_key');
  expect(at('api-setup').textContent).toContain('tags orders');
  expect(await findSeriousFaults()).toEqual([]);
});

test('one is switched on and off, read again, and removed once that was asked', async () => {
  const host = await open();
  await screen.findByTestId('api-pets');
  await click('api-pets');
  expect(at('api-off').textContent).toMatch(/Switching it on reads its\s+document/);
  await click('api-enabled');
  await waitFor(() => expect(at('api-state').textContent).toContain('On'));
  await click('api-acts');
  await click('api-acts-remove');
  expect(document.activeElement).toBe(at('remove-keep'));
  await click('remove-keep');
  expect(screen.queryByTestId('api-remove')).toBeNull();
  await click('api-acts');
  await click('api-acts-read');
  await waitFor(() => expect(changes(host).at(-1)).toEqual(['pets', { type: 'read' }]));
  await click('api-acts');
  await click('api-acts-remove');
  await click('remove-now');
  await waitFor(() => expect(screen.queryByTestId('api-pets')).toBeNull());
});

test('a document that cannot be read says why beside its switch', async () => {
  await open((host) => (host.apis.broken['pets'] = 'it does not say its version'));
  await screen.findByTestId('api-pets');
  await click('api-pets');
  await click('api-enabled');
  expect((await screen.findByTestId('api-trouble')).textContent).toContain('does not say its version');
  expect(at('api-enabled').getAttribute('aria-checked')).toBe('false');
});

test('one is added by its form, which says what is missing and keeps a secret out of files', async () => {
  const host = await open();
  await click('apis-add');
  await click('api-save');
  expect(at('bad-id').textContent).toBe('Give it a short name.');
  expect(at('bad-document').textContent).toBe('Say where its document is.');
  await type('api-id', 'tracker');
  host.picked = '/home/mira/tracker.yaml';
  await click('api-document-choose');
  await waitFor(() => expect((at('api-document') as HTMLInputElement).value).toBe('/home/mira/tracker.yaml'));
  await click('who-add');
  await type('who-scheme-0', 'key');
  await type('who-secret-0', 'hush');
  await click('who-keep-0');
  await waitFor(() => expect((at('who-secret-0') as HTMLInputElement).value).toBe('keychain:tracker-key'));
  await click('api-audience-mine');
  await click('api-more');
  await type('api-tags', 'issues, boards');
  await click('variable-add');
  await type('variable-name-0', 'region');
  await click('api-save');
  expect(at('bad-variables').textContent).toBe('A variable has no value.');
  await type('variable-value-0', 'eu');
  expect(await findSeriousFaults()).toEqual([]);
  await click('api-save');
  await screen.findByTestId('api-tracker');
  const setup = apiSetup('/home/mira/tracker.yaml', {
    auth: { key: { type: 'token', token: 'keychain:tracker-key' } },
    tags: ['issues', 'boards'],
    variables: { region: 'eu' },
    audience: 'mine',
  });
  expect(changes(host)).toEqual([['tracker', { type: 'set', setup }]]);
  expect(host.ops).toContainEqual({ type: 'set_key', provider: 'mcp:tracker-key', key: 'hush' });
  await waitFor(() => expect(document.activeElement).toBe(at('api-enabled')));
});

test('where none is set up, it says what one would be', async () => {
  await open((host) => (host.apis.all = []));
  expect((await screen.findByTestId('apis-empty')).textContent).toContain('each of its operations becomes a tool');
  expect(await findSeriousFaults()).toEqual([]);
});

describe('a setup as it is typed', () => {
  const good = { ...draftOf(null), id: 'orders', document: 'https://api.example/openapi.json' };
  test.each([
    ['nothing', good, {}],
    ['a name that a server has', { ...good, id: 'notes' }, { id: '“notes” is there already. Choose another name.' }],
    [
      'a file without its folder',
      { ...good, document: 'openapi.json' },
      { document: 'Write an address with https://, or the whole path of a file.' },
    ],
    [
      'no address',
      { ...good, baseUrl: 'example.org' },
      { baseUrl: 'Write it like https://api.example.org/v1, or leave it empty.' },
    ],
    [
      'a secret without a scheme',
      { ...good, who: [{ scheme: '', as: 'token' as const, name: '', secret: 'x' }] },
      { who: 'Fill in all of it, or take it out.' },
    ],
    [
      'a header twice',
      {
        ...good,
        headers: [
          { name: 'A', value: '1' },
          { name: 'a', value: '2' },
        ],
      },
      { headers: '“a” is there twice.' },
    ],
    [
      'a variable that refers to something',
      { ...good, variables: [{ name: 'a', value: '${B}' }] },
      { variables: 'Write the value of a variable itself: addresses are shown, so they hold no secrets.' },
    ],
    ['no time', { ...good, seconds: '0' }, { seconds: 'Write seconds, 1 to 600.' }],
  ])('is wrong by %s', (_, draft, problems) => expect(problemsOf(draft, ['notes'])).toEqual(problems));

  test('is saved as it was read', () => {
    const setup = apiSetup('/srv/openapi.yaml', {
      follow_files: true,
      base_url: 'https://a.example/v1',
      headers: { A: '1' },
      variables: { b: '2' },
      auth: {
        basic: { type: 'basic', username: 'mira', password: 'keychain:p' },
        oauth: { type: 'client', client_id: 'c', client_secret: '${S}' },
      },
      tags: ['t'],
      operations: ['get_*'],
      paths: ['/x'],
      timeout_ms: 5_000,
    });
    expect(setupOf(draftOf({ id: 'a', setup, enabled: true }))).toEqual(setup);
  });
});
