// Two different texts never look the same.

import { render } from '@testing-library/svelte';
import { expect, test } from 'vitest';
import { HOSTILE_TEXTS } from '../testing/hostile_texts';
import Shown from './Shown.svelte';
import { shown } from './shown';
import { markLookalikes } from './lookalikes';

/** A text as it is shown, the names of characters in brackets. */
const seen = (text: string): string =>
  markLookalikes(shown(text))
    .map((span) => (span.control ? `[${span.text}]` : span.text))
    .join('');

test.each([
  ['rm -rf src', 'rm -rf src', 'Latin text'],
  ['r\u043c -rf /', 'r[U+043C] -rf /', 'a Cyrillic letter among Latin ones'],
  ['cat p\u0430sswd', 'cat p[U+0430]sswd', 'a letter that looks the same'],
  ['cat \u0441\u043e\u0440\u0443', 'cat [U+0441][U+043E][U+0440][U+0443]', 'a word that looks Latin'],
  ['\u043e\u0442\u0447\u0451\u0442 \u0441 \u043e\u0441\u0438', 'отчёт с оси', 'a text in that script'],
  ['curl https://g\u03bfogle.com', 'curl https://g[U+03BF]ogle.com', 'a Greek letter in a host'],
  ['\uff52\uff4d x', '[U+FF52][U+FF4D] x', 'wide letters'],
  ['\u{1d42b}\u{1d426} x', '[U+1D42B][U+1D426] x', 'mathematical letters'],
  ['ls a\u2215b \u2010l', 'ls a[U+2215]b [U+2010]l', 'marks of a path and an option'],
  ['caf\u00e9', 'café', 'a letter with its accent'],
  ['cafe\u0301', 'cafe[U+0301]', 'the same letter of two characters'],
  ['\u212aelvin', '[U+212A]elvin', 'a sign that is held to be a letter'],
  ['m\u00b2 \u65e5\u672c\u8a9eabc \u00df \u2026 \u201ca\u201d', 'm² 日本語abc ß … “a”', 'what looks like nothing else'],
])('%s is shown as %s: %s', (text, expected) => expect(seen(text)).toBe(expected));

test('no two hostile texts, and none of them without its hidden characters, look the same', () => {
  const all = Object.values(HOSTILE_TEXTS).flatMap((text) => [
    text,
    text.replace(/[^\n\t -~]/gu, ''),
    text.replace(/a/g, '\u0430'),
  ]);
  const texts = [...new Set(all)];
  expect(new Set(texts.map(seen)).size).toBe(texts.length);
});

test('a mark says what it stands for', () => {
  const { container } = render(Shown, { text: 'p\u0430\u200b' });
  expect([...container.querySelectorAll('.ctl')].map((mark) => [mark.textContent, mark.getAttribute('title')])).toEqual(
    [
      ['U+0430', 'U+0430 looks like another character'],
      ['U+200B', 'hidden character U+200B'],
    ],
  );
});

test('a line of ten million characters is shown whole, as one stretch', () => {
  const line = 'x'.repeat(10_000_000);
  expect(markLookalikes(shown(line))).toEqual([{ text: line, control: false }]);
});
