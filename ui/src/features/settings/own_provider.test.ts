// Valid settings of a provider of the person's own, and the settings that are saved.

import { describe, expect, test } from 'vitest';
import { draftOf, idOf, problemsOf, settingsOf, type Draft, type Problems } from './own_provider';

const good: Draft = {
  wire: 'openai',
  title: 'LM Studio',
  id: 'lm-studio',
  base_url: 'http://127.0.0.1:1234/v1',
  key_env: '',
  input: '',
  output: '',
};

describe('what is wrong', () => {
  test.each<[string, Partial<Draft>, Problems]>([
    ['nothing', {}, {}],
    [
      'everything is missing',
      { title: ' ', id: '', base_url: '' },
      { title: 'Give it a name.', id: 'Give it a short id.', base_url: 'Say where it is reached.' },
    ],
    ['a built-in id', { id: 'openai' }, { id: '“openai” is built in. Choose another id.' }],
    ['an id twice', { id: 'vllm' }, { id: '“vllm” is there already. Choose another id.' }],
    ['an id with a space', { id: 'my own' }, { id: 'Use small letters, digits, - and _ alone.' }],
    [
      'an address without its beginning',
      { base_url: '127.0.0.1:1234' },
      { base_url: 'Begin with http:// or https://.' },
    ],
    [
      'no address',
      { base_url: 'http://' },
      { base_url: 'This is not an address. Write it like http://127.0.0.1:1234/v1/.' },
    ],
    [
      'a key in the address',
      { base_url: 'https://me:key@x.org/v1' },
      { base_url: 'Leave out user, password and query. A key belongs under Key….' },
    ],
    [
      'a key in the address, as a query',
      { base_url: 'https://x.org/v1?key=1' },
      { base_url: 'Leave out user, password and query. A key belongs under Key….' },
    ],
    [
      'a key where its variable belongs',
      { key_env: 'sk-123' },
      { key_env: 'Write the name of a variable, like MY_API_KEY, not the key.' },
    ],
    ['one price', { input: '0.25' }, { output: 'Set both prices, or none.' }],
    [
      'a price that is none',
      { input: 'cheap', output: '-1' },
      { input: 'Write dollars, like 0.25.', output: 'Write dollars, like 0.25.' },
    ],
    ['prices as people write them', { input: '$0.25', output: '1,5' }, {}],
  ])('%s', (_, changes, problems) => expect(problemsOf({ ...good, ...changes }, ['vllm'])).toEqual(problems));
});

test('what is saved', () => {
  expect(settingsOf({ ...good, key_env: ' LM_KEY ', input: '$0.25', output: '1,5' })).toEqual({
    id: 'lm-studio',
    title: 'LM Studio',
    wire: 'openai',
    base_url: 'http://127.0.0.1:1234/v1/',
    key_env: 'LM_KEY',
    input_usd_per_mtok: 0.25,
    output_usd_per_mtok: 1.5,
  });
  const saved = settingsOf(good);
  expect(settingsOf(draftOf(saved))).toEqual(saved);
});

test.each([
  ['LM Studio', 'lm-studio'],
  ['  Über-Modell! ', 'u-ber-modell'],
  ['…', ''],
])('an id of %s', (title, id) => expect(idOf(title)).toBe(id));
