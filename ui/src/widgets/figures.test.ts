// Figures as people write them.

import { describe, expect, test } from 'vitest';
import { age, baseName, brief, bytes, count, duration, fromHome, plural } from './figures';

const S = 1_000;
const M = 60 * S;
const H = 60 * M;

test.each([
  [0, '0 ms'],
  [4, '4 ms'],
  [999, '999 ms'],
  [8_400, '8.4 s'],
  [9_999, '9.9 s'],
  [59_900, '59 s'],
  [200_000, '3 min 20 s'],
  [2 * H + 5 * M, '2 h 5 min'],
])('%i ms took %s', (ms, text) => expect(duration(ms)).toBe(text));

test.each([
  [-5 * S, '0 s'],
  [42 * S, '42 s'],
  [59 * S, '59 s'],
  [11 * M, '11 min'],
  [3 * H, '3 h'],
])('%i ms ago is %s', (ms, text) => expect(age(1_000_000_000_000 - ms, 1_000_000_000_000)).toBe(text));

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [6_812, '6.8 kB'],
  [2_000_000_000, '2 GB'],
  [999_950, '1 MB'],
  [3_100_000, '3.1 MB'],
  [13_000, '13 kB'],
])('%i bytes are %s', (n, text) => expect(bytes(n)).toBe(text));

describe('counts and paths', () => {
  test.each([
    [brief(930), '930'],
    [brief(18_240), '18.2 k'],
    [brief(1_400_000), '1.4 M'],
    [count(18_402), '18,402'],
    [plural(1, ['# file', '# files']), '1 file'],
    [plural(1_025, ['# file', '# files']), '1,025 files'],
    [fromHome('/home/mira/code/a', '/home/mira'), '~/code/a'],
    [fromHome('/home/miranda/a', '/home/mira'), '/home/miranda/a'],
    [fromHome('/home/mira', '/home/mira'), '~'],
    [baseName('/home/mira/code/tidemark/'), 'tidemark'],
    [baseName('/'), '/'],
  ])('%s', (is, expected) => expect(is).toBe(expected));
});
