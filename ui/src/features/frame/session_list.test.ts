// The list of sessions: pinned ones, the archive, folders and the filter.

import { fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import { describe, expect, test } from 'vitest';
import { at, click, openApp } from '../../app/app_page';
import { settleFocus } from '../../app/screen_focus';
import { FakeHost } from '../../ipc/fake';
import { findSeriousFaults } from '../../testing/accessibility';

const FOLDERS: Record<string, string> = { shop: '/home/mira/code/shop', site: '/home/mira/code/site' };

/** Opens the window over sessions `one` to `four`, the last one changed last; two in each folder. */
async function open(): Promise<FakeHost> {
  const host = new FakeHost();
  let at = Date.now() - 60_000;
  host.now = () => (at += 1_000);
  for (const [id, folder] of [
    ['one', 'shop'],
    ['two', 'site'],
    ['three', 'shop'],
    ['four', 'site'],
  ] as const) {
    const model = { provider: id === 'three' ? 'agent' : 'demo', model: id === 'three' ? 'claude-code' : '' };
    host.emit(id, { type: 'session_opened', title: `Session ${id}`, workspace: FOLDERS[folder] ?? '', model });
  }
  await openApp(host);
  return host;
}

const titles = (group: string): string[] =>
  within(screen.getByRole('list', { name: group }))
    .getAllByTestId(/^rail-session-/)
    .map((row) => row.dataset['testid']?.replace('rail-session-', '') ?? '');
const groups = (): string[] =>
  within(at('rail-sessions'))
    .queryAllByRole('heading', { level: 3 })
    .map((heading) => heading.textContent.trim());
const type = (value: string) => fireEvent.input(at('rail-filter'), { target: { value } });

describe('the list of sessions', () => {
  test('a pinned session stands above the others, and is put back', async () => {
    const host = await open();
    expect(groups(), 'one group needs no heading').toEqual([]);
    await click('rail-menu-one');
    await click('rail-menu-one-pinned');
    expect(host.ops.at(-1)).toEqual({ type: 'place_session', session: 'one', place: 'pinned' });
    await waitFor(() => expect(groups()).toEqual(['Pinned', 'Recent']));
    expect(titles('Pinned')).toEqual(['one']);
    expect(titles('Recent')).toEqual(['four', 'three', 'two']);
    expect(await findSeriousFaults()).toEqual([]);
    await click('rail-menu-one');
    await click('rail-menu-one-recent');
    await waitFor(() => expect(groups()).toEqual([]));
  });

  test('an archived session is out of the way until it is looked for, opened, or spoken in', async () => {
    const host = await open();
    await click('rail-menu-two');
    await click('rail-menu-two-archived');
    await waitFor(() => expect(screen.queryByTestId('rail-session-two')).toBeNull());
    await click('rail-filter-toggle');
    await type('two');
    await waitFor(() => expect(titles('Archived')).toEqual(['two']));
    await fireEvent.keyDown(at('rail-filter'), { key: 'Escape' });
    expect(screen.queryByTestId('rail-session-two')).toBeNull();
    await click('rail-list');
    expect(at('rail-list-archive').textContent).toContain('Show the archive (1)');
    await click('rail-list-archive');
    expect(groups()).toEqual(['Recent', 'Archived']);
    host.emit('two', { type: 'person_said', message: 'msg_1', text: 'Go on.', steering: false });
    await waitFor(() => expect(titles('Sessions')).toEqual(['four', 'three', 'two', 'one']));
  });

  test('a session that needs the person is never out of the way', async () => {
    const host = await open();
    await click('rail-menu-two');
    await click('rail-menu-two-archived');
    await waitFor(() => expect(screen.queryByTestId('rail-session-two')).toBeNull());
    host.emit('two', { type: 'session_changed', state: 'running' });
    await waitFor(() => expect(at('rail-session-two')).toBeTruthy());
    await click('rail-menu-two');
    expect(at('rail-menu-two-recent').textContent).toContain('Move out of the archive');
  });

  test('sessions are grouped by their folder, and the window remembers it', async () => {
    await open();
    await click('rail-list');
    await click('rail-list-byFolder');
    expect(groups()).toEqual(['site', 'shop']);
    expect(titles('~/code/shop')).toEqual(['three', 'one']);
    expect(localStorage.getItem('session-list')).toBe('["byFolder"]');
  });

  test('the focus stays in the filter and in a menu, whatever lands meanwhile', async () => {
    await open();
    await click('rail-filter-toggle');
    await settleFocus(() => undefined);
    expect(document.activeElement).toBe(at('rail-filter'));
    await click('rail-menu-one');
    await waitFor(() => expect(document.activeElement).toBe(at('rail-menu-one-pinned')));
    await settleFocus(() => undefined);
    expect(document.activeElement).toBe(at('rail-menu-one-pinned'));
  });

  test('the filter finds titles, folders and agents, and says how many', async () => {
    await open();
    await click('rail-filter-toggle');
    expect(document.activeElement).toBe(at('rail-filter'));
    await type('SHOP one');
    expect(titles('Sessions')).toEqual(['one']);
    await type('claude');
    expect(titles('Sessions')).toEqual(['three']);
    expect(screen.getByText('1 session')).toBeTruthy();
    await fireEvent.keyDown(at('rail-filter'), { key: 'ArrowDown' });
    expect(document.activeElement).toBe(at('rail-session-three'));
    await type('nothing like it');
    expect(at('rail-sessions').textContent).toContain('No session fits.');
    expect(await findSeriousFaults()).toEqual([]);
    await fireEvent.keyDown(at('rail-filter'), { key: 'Escape' });
    expect(titles('Sessions')).toHaveLength(4);
  });
});
