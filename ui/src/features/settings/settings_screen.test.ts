// The settings as a screen: their index, their search, and where the focus goes as they are opened.

import { fireEvent, screen, waitFor } from '@testing-library/svelte';
import { describe, expect, test, vi } from 'vitest';
import { at, click, focused, openApp, text, type } from '../../app/app_page';
import sample from '../../../../tests/golden/sample.jsonl?raw';
import { FakeHost } from '../../ipc/fake';
import { parseStream } from '../../ipc/fake_streams';
import { SETTINGS_SECTIONS } from '../../state/view';
import { findFaults, findSeriousFaults } from '../../testing/accessibility';
import { openSettings, sectionsShown } from './settings_page';

const recorded = () => new FakeHost(parseStream(sample));
const press = (key: string, more: object = {}) =>
  fireEvent.keyDown(document.activeElement ?? document.body, { key, ...more });
const title = () => document.activeElement?.textContent;

test.each(SETTINGS_SECTIONS)('nothing is wrong for a screen reader in the section %s', async (section) => {
  await openSettings(section);
  expect(await findFaults(at('settings'))).toEqual([]);
});

describe('the index', () => {
  test('names every section, and only the open one is on the way of Tab', async () => {
    await openSettings('appearance');
    const tabs = screen.getAllByRole('tab');
    expect(tabs.map((tab) => tab.dataset['testid'])).toEqual(SETTINGS_SECTIONS.map((id) => `section-${id}`));
    expect(tabs.filter((tab) => tab.tabIndex === 0).map((tab) => tab.textContent)).toEqual(['Appearance']);
    expect(screen.getByRole('tabpanel').getAttribute('aria-labelledby')).toBe(at('section-appearance').id);
  });

  test('is walked with the arrows, and each section opens', async () => {
    const desk = await openSettings('providers');
    at('section-providers').focus();
    await press('ArrowDown');
    expect([focused(), sectionsShown()]).toEqual(['section-appearance', ['settings-appearance']]);
    await press('End');
    expect([focused(), sectionsShown()]).toEqual(['section-about', ['settings-about']]);
    await press('ArrowDown');
    expect(focused()).toBe('section-about');
    await press('Home');
    expect(desk.navigation.view).toEqual({ screen: 'settings', section: 'providers' });
    await press('ArrowUp');
    expect(focused()).toBe('settings-search');
    await press('ArrowDown');
    expect(focused()).toBe('section-providers');
  });

  test('is a menu where the window is narrow', async () => {
    await openSettings('providers');
    await click('settings-sections');
    await click('settings-sections-undo');
    expect(sectionsShown()).toEqual(['settings-undo']);
    expect(at('settings-sections').getAttribute('aria-label')).toBe('Section: Undo & data');
  });
});

describe('opened', () => {
  test('by the rail, the index has the focus; the section that was open last is open again', async () => {
    await openSettings('limits');
    await click('rail-history');
    await click('rail-settings');
    await waitFor(() => expect(focused()).toBe('section-limits'));
    expect(at('rail-settings').getAttribute('aria-current')).toBe('page');
  });

  test('by Ctrl and comma, also from the message box and over the palette', async () => {
    const desk = await openApp(recorded());
    await click('rail-session-ses_0001');
    at('composer').focus();
    await press(',', { ctrlKey: true });
    await waitFor(() => expect(focused()).toBe('section-providers'));
    await click('rail-desk');
    await press('k', { ctrlKey: true });
    await press(',', { ctrlKey: true });
    await waitFor(() => expect(focused()).toBe('section-providers'));
    expect(screen.queryByTestId('palette')).toBeNull();
    expect(desk.navigation.view.screen).toBe('settings');
  });

  test('by the palette, which has a command for each section, with the focus on its heading', async () => {
    await openApp(recorded());
    at('rail-history').focus();
    await press('k', { ctrlKey: true });
    await type('palette-input', 'settings');
    expect(screen.getAllByRole('option').map((option) => option.dataset['testid'])).toEqual([
      'command-settings',
      ...SETTINGS_SECTIONS.map((id) => `command-settings-${id}`),
    ]);
    await type('palette-input', 'settings undo');
    await press('Enter');
    await waitFor(() => expect(title()).toBe('Undo & data'));
    expect(sectionsShown()).toEqual(['settings-undo']);
  });

  test('for a purpose while they are open: what is looked for is dropped, and the heading has the focus', async () => {
    const desk = await openSettings('about');
    await type('settings-search', 'theme');
    desk.navigation.openSettings('programs');
    await waitFor(() => expect(title()).toBe('Watchdogs & hooks'));
    expect((at('settings-search') as HTMLInputElement).value).toBe('');
  });

  test('for the key of a provider, its field has the focus; one that is not there leaves it on the heading', async () => {
    const desk = await openSettings('about');
    desk.navigation.openSettings('providers', 'openai');
    await waitFor(() => expect(focused()).toBe('key-field'));
    expect(at('key-openai').getAttribute('aria-expanded')).toBe('true');
    await press('Escape');
    await waitFor(() => expect(focused()).toBe('key-openai'));
    desk.navigation.openSettings('providers', 'gone');
    await waitFor(() => expect(title()).toBe('Providers'));
  });
});

test('back leads to the screen from which the settings were opened', async () => {
  const desk = await openApp(recorded());
  await click('rail-session-ses_0001');
  await click('rail-settings');
  expect(at('settings-back').title).toBe('Back to Split planner crate');
  await click('section-undo');
  await click('settings-back');
  expect(desk.navigation.view).toEqual({ screen: 'session', session: 'ses_0001' });
});

test('what was chosen and typed for a new session is there again after the settings', async () => {
  await openApp(recorded());
  await click('rail-new');
  await click('choose-folder');
  await type('first-message', 'Look around');
  await click('rail-settings');
  await click('settings-back');
  expect((at('first-message') as HTMLTextAreaElement).value).toBe('Look around');
  expect((at('folder-site') as HTMLInputElement).checked).toBe(true);
  await click('start-session');
  await click('rail-new');
  expect((at('first-message') as HTMLTextAreaElement).value).toBe('');
});

test('the file of the settings is named at the top, and its path can be copied', async () => {
  const copied: string[] = [];
  vi.stubGlobal('navigator', {
    ...navigator,
    clipboard: { writeText: (path: string) => (copied.push(path), Promise.resolve()) },
  });
  await openSettings('providers');
  await fireEvent.click(await screen.findByTestId('copy-settings-path'));
  expect(document.querySelector('.header-bar')?.textContent).toContain('~/.config/countersign/settings.toml');
  await waitFor(() => expect(copied).toEqual(['/home/mira/.config/countersign/settings.toml']));
  expect(text('toast')).toContain('Copied');
});

describe('the search', () => {
  test('shows what it finds by section, with the words marked', async () => {
    await openSettings('about');
    await type('settings-search', 'before each call');
    await waitFor(() => expect(text('settings-found')).toBe('1 setting found'));
    expect(sectionsShown()).toEqual(['settings-undo']);
    expect([...at('settings').querySelectorAll('mark')].map((mark) => mark.textContent)).toEqual([
      'before',
      'each',
      'call',
      'call',
    ]);
    expect(screen.queryByTestId('set-keep')).toBeNull();
    await fireEvent.click(at('set-snapshot'));
    await waitFor(() => expect(at('set-snapshot').getAttribute('aria-checked')).toBe('false'));
    expect(await findSeriousFaults()).toEqual([]);
  });

  test('finds over sections, also by further words, and a whole section or group by its name', async () => {
    await openSettings('about');
    await type('settings-search', 'night');
    await waitFor(() => expect(sectionsShown()).toEqual(['settings-appearance']));
    expect(screen.queryByTestId('set-diff')).toBeNull();
    await type('settings-search', 'key');
    await waitFor(() =>
      expect(sectionsShown()).toEqual(['settings-providers', 'settings-keys', 'settings-web_search']),
    );
    await type('settings-search', 'sandbox');
    await waitFor(() => expect(screen.queryByTestId('set-memory')).toBeTruthy());
    await type('settings-search', 'pyright');
    expect(await screen.findByTestId('language-pyright')).toBeTruthy();
  });

  test('Escape empties the field, and the section that was open is there again', async () => {
    await openSettings('about');
    at('settings-search').focus();
    await type('settings-search', 'theme');
    await waitFor(() => expect(sectionsShown()).toEqual(['settings-appearance']));
    expect(screen.getAllByRole('tab', { selected: false })).toHaveLength(SETTINGS_SECTIONS.length);
    await press('Enter');
    expect(title()).toBe('Appearance');
    at('settings-search').focus();
    await press('Escape');
    expect([(at('settings-search') as HTMLInputElement).value, sectionsShown()]).toEqual(['', ['settings-about']]);
    expect(focused()).toBe('settings-search');
  });

  test('that finds nothing says so, and leads back to all', async () => {
    await openSettings('about');
    await type('settings-search', 'unicorn');
    await screen.findByTestId('settings-none');
    expect(text('settings-found')).toBe('0 settings found');
    expect(await findSeriousFaults()).toEqual([]);
    await click('settings-clear');
    expect([focused(), sectionsShown()]).toEqual(['settings-search', ['settings-about']]);
  });
});
