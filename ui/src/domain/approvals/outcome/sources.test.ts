import { expect, it } from 'vitest';
import { sourcesOf } from './sources';

const one = { title: 'Docs', url: 'https://docs.example/', snippet: 'words' };

it.each([
  [
    'a search',
    { results: [one, { url: 'https://b.example/' }] },
    [
      { title: 'Docs', url: 'https://docs.example/' },
      { title: '', url: 'https://b.example/' },
    ],
  ],
  [
    'a fetch',
    { url: 'https://docs.example/page', status: 200, untrusted: true },
    [{ title: '', url: 'https://docs.example/page' }],
  ],
  ['another tool with an address', { url: 'https://docs.example/page' }, []],
  ['what is no source', { results: ['x', 3, null, { title: 'no address' }] }, []],
  ['nothing', undefined, []],
])('tells the sources of %s', (_, data, sources) => expect(sourcesOf(data)).toEqual(sources));

it('shows no more than a page of them', () =>
  expect(sourcesOf({ results: Array.from({ length: 90 }, () => one) })).toHaveLength(20));
