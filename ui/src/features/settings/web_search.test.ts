// Valid settings of web search providers, and the settings that are saved.

import { describe, expect, test } from 'vitest';
import type { SearchProviderSettings } from '../../ipc/bindings';
import { countOf, idOf, keyName, noteOf, problemsOf, settingsOf, type Draft, type Problems } from './web_search';

const good: Draft = { wire: 'brave', base_url: '', key_env: '' };

describe('what is wrong', () => {
  test.each<[string, Partial<Draft>, Problems]>([
    ['nothing', {}, {}],
    ['an instance without an address', { wire: 'searxng' }, { base_url: 'Say where it is reached.' }],
    ['an address without its beginning', { base_url: 'searx.org' }, { base_url: 'Begin with http:// or https://.' }],
    [
      'no address',
      { base_url: 'http://' },
      { base_url: 'This is not an address. Write it like https://searx.example.org/.' },
    ],
    [
      'a key where its variable belongs',
      { key_env: 'BSA-123' },
      { key_env: 'Write the name of a variable, like BRAVE_API_KEY, not the key.' },
    ],
  ])('%s', (_, changes, problems) => expect(problemsOf({ ...good, ...changes })).toEqual(problems));
});

test('what is saved', () => {
  expect(settingsOf({ ...good, key_env: ' BRAVE_KEY ' }, ['brave'])).toEqual({
    id: 'brave-2',
    wire: 'brave',
    base_url: null,
    key_env: 'BRAVE_KEY',
  });
  // An instance takes no key.
  expect(settingsOf({ wire: 'searxng', base_url: ' http://127.0.0.1:8888 ', key_env: 'X' }, [])).toEqual({
    id: 'searxng',
    wire: 'searxng',
    base_url: 'http://127.0.0.1:8888',
    key_env: null,
  });
  expect(idOf('exa', ['exa', 'exa-2'])).toBe('exa-3');
  expect(keyName('exa-3')).toBe('web_search/exa-3');
});

test.each<[Partial<SearchProviderSettings>, string]>([
  [{}, 'Key from the keychain'],
  [{ key_env: 'B' }, 'Key from B, else the keychain'],
  [{ base_url: 'https://b.test/' }, 'Key from the keychain · https://b.test/'],
  [{ wire: 'searxng', base_url: 'https://s.test/' }, 'https://s.test/'],
  [{ wire: 'searxng' }, 'It has no address, so it is not asked.'],
])('the note of %o', (changes, note) =>
  expect(noteOf({ id: 'x', wire: 'brave', base_url: null, key_env: null, ...changes })).toBe(note),
);

test('the note of one that was looked at says where its key is, or that it has none', () => {
  const own: SearchProviderSettings = { id: 'x', wire: 'brave', base_url: null, key_env: 'BRAVE_API_KEY' };
  expect(noteOf(own, { id: 'x', ready: true, note: 'Key from BRAVE_API_KEY.' })).toBe('Key from BRAVE_API_KEY');
  expect(
    noteOf(
      { ...own, base_url: 'https://b.test/' },
      { id: 'x', ready: false, note: 'No key yet. It is not answered without one.' },
    ),
  ).toBe('No key yet. It is not answered without one · https://b.test/');
});

test.each([
  ['25', { value: 25 }],
  [' 1 ', { value: 1 }],
  ['0', { problem: 'Write a whole number, at least 1.' }],
  ['1.5', { problem: 'Write a whole number, at least 1.' }],
  ['', { problem: 'Write a whole number, at least 1.' }],
  ['121', { problem: 'At most 120.' }],
])('the number %s', (text, come) => expect(countOf(text, 120)).toEqual(come));
