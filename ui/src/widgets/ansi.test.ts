// Output of a program: colours are kept, nothing else is obeyed, nothing is hidden.

import { expect, it } from 'vitest';
import { lineCount, stretches } from './ansi';
import { shown } from './shown';

const brief = (text: string) =>
  stretches(text).map((one) => [
    one.text,
    one.control ? 'control' : `${one.ink}${one.bold ? ' bold' : ''}${one.under ? ' under' : ''}`,
  ]);

it.each([
  ['plain', [['plain', 'plain']]],
  [
    '\u001b[31mred\u001b[0m on',
    [
      ['red', 'red'],
      [' on', 'plain'],
    ],
  ],
  [
    '\u001b[1;32mok\u001b[22m fine\u001b[39m',
    [
      ['ok', 'green bold'],
      [' fine', 'green'],
    ],
  ],
  ['\u001b[91mbright\u001b[m', [['bright', 'red']]],
  [
    '\u001b[38;5;4mblue\u001b[38;5;200mother',
    [
      ['blue', 'blue'],
      ['other', 'plain'],
    ],
  ],
  [
    '\u001b[38;2;10;20;30mtrue\u001b[4mline',
    [
      ['true', 'plain'],
      ['line', 'plain under'],
    ],
  ],
  [
    '\u001b[2Jclear\u001b[1;1Hhome\u001b[?25l',
    [
      ['clear', 'plain'],
      ['home', 'plain'],
    ],
  ],
  ['\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007', [['link', 'plain']]],
  ['\u001b]0;title\u001b\\text', [['text', 'plain']]],
  ['<img src=x onerror=alert(1)>', [['<img src=x onerror=alert(1)>', 'plain']]],
  [
    'rm \u202etxt\u0007',
    [
      ['rm ', 'plain'],
      ['U+202E', 'control'],
      ['txt', 'plain'],
      ['U+0007', 'control'],
    ],
  ],
  ['10%\r50%\r100%\ndone', [['100%\ndone', 'plain']]],
  ['a\r\nb\r\n', [['a\nb\n', 'plain']]],
  ['cut \u001b[3', [['cut ', 'plain']]],
  ['', []],
])('%j', (text, expected) => {
  expect(brief(text)).toEqual(expected);
});

it('an unfinished sequence hides nothing that follows', () => {
  expect(brief('\u001b]0;never ended\nand the rest').at(-1)?.[0]).toContain('and the rest');
});

it('counts lines as a person does', () => {
  expect(['', 'a', 'a\n', 'a\nb', '\n'].map(lineCount)).toEqual([0, 1, 1, 2, 1]);
});

it('names every hidden character, so that two texts never look the same', () => {
  expect(shown('a\u200bb\t\n\u{e0041}\u00a0')).toEqual([
    { text: 'a', control: false },
    { text: 'U+200B', control: true },
    { text: 'b\t\n', control: false },
    { text: 'U+E0041', control: true },
    { text: 'U+00A0', control: true },
  ]);
});
