// A line as it is drawn, pairs of lines, the gaps between hunks, and the colours.

import { expect, it } from 'vitest';
import { file, hunk, line, parser as change } from '../../gallery/sample_diffs';
import { grammar } from '../../widgets/code/grammars';
import { hunkColours, textOf } from './highlight';
import { runsOf } from './pieces';
import { asContext, gaps, grown, hidden, nothing, pairs, wanted } from './rows';

it('cuts a line at changes and at colours, and loses nothing', () => {
  const one = line('added', null, 1, 'let ‹x = ␀U+202E␀"a"›;');
  const runs = runsOf(one, [
    { from: 0, to: 3, ink: 'keyword' },
    { from: 14, to: 17, ink: 'literal' },
  ]);
  expect(runs).toEqual([
    {
      changed: false,
      pieces: [
        { text: 'let', ink: 'keyword', control: false },
        { text: ' ', ink: null, control: false },
      ],
    },
    {
      changed: true,
      pieces: [
        { text: 'x = ', ink: null, control: false },
        { text: 'U+202E', ink: null, control: true },
        { text: '"a"', ink: 'literal', control: false },
      ],
    },
    { changed: false, pieces: [{ text: ';', ink: null, control: false }] },
  ]);
  expect(
    runs
      .flatMap((run) => run.pieces)
      .map((piece) => piece.text)
      .join(''),
  ).toBe(textOf(one));
});

it('colours go over the borders of parts', () => {
  const runs = runsOf(line('added', null, 1, '"0.‹8.1›"'), [{ from: 0, to: 8, ink: 'literal' }]);
  expect(runs.map((run) => run.pieces.map((piece) => [piece.text, piece.ink]))).toEqual([
    [['"0.', 'literal']],
    [['8.1', 'literal']],
    [['"', 'literal']],
  ]);
});

it('stands lines that go beside those that come', () => {
  const lines = hunk(0, 1, 1, '', [' a', '-b', '-c', '+d', ' e', '+f']).lines;
  expect(pairs(lines)).toEqual([
    { left: 0, right: 0 },
    { left: 1, right: 3 },
    { left: 2, right: null },
    { left: 4, right: 4 },
    { left: null, right: 5 },
  ]);
});

it('knows the gaps before, between and after hunks, with the numbers after', () => {
  expect(gaps(change)).toEqual([
    { from: 1, to: 30, shift: 0 },
    { from: 34, to: 120, shift: 2 },
    { from: 124, to: 401, shift: 2 },
    { from: 405, to: null, shift: 2 },
  ]);
  expect(gaps(file('new.ts', 'typescript', [hunk(0, 0, 1, '', ['+a'])], { exists: false }))).toEqual([]);
  expect(gaps(file('b.ts', 'typescript', [hunk(0, 1, 1, 'moves as it is', [])], { from: 'a.ts' }))).toEqual([]);
});

it('shows a gap from either edge until nothing is hidden', () => {
  const gap = { from: 34, to: 120, shift: 2 };
  const lines = (count: number) => Array.from({ length: count }, () => [{ text: 'x', control: false }]);
  expect(wanted(gap, nothing, 'tail', 20)).toEqual({ start: 101, count: 20 });
  const some = grown(nothing, 'tail', lines(20), 20, false);
  expect([hidden(gap, some), wanted(gap, some, 'head', 2000)]).toEqual([67, { start: 34, count: 67 }]);
  expect(hidden(gap, grown(some, 'head', lines(67), 67, false))).toBe(0);
  expect(asContext(lines(1), 34, 2)).toEqual([{ kind: 'context', old: 34, new: 36, parts: [{ text: 'x' }] }]);
});

it('learns the end of the file from an answer that is short', () => {
  const gap = { from: 405, to: null, shift: 2 };
  expect([hidden(gap, nothing), wanted(gap, nothing, 'tail', 20)]).toEqual([null, { start: 405, count: 20 }]);
  expect(hidden(gap, grown(nothing, 'head', [[]], 20, true))).toBe(0);
});

it('colours each side as one text: a comment over several lines is one', async () => {
  const parser = await grammar('rust');
  if (!parser) throw new Error('no grammar');
  const { lines } = hunk(0, 1, 1, '', [' /* a', '-   old', '+   new', ' */ let x = "y";']);
  const inks = hunkColours(parser, 'rust', lines).map((ranges) => ranges.map((range) => range.ink));
  expect(inks).toEqual([['comment'], ['comment'], ['comment'], ['comment', 'keyword', 'literal']]);
});

it('colours what a line alone can tell, where there is no grammar', () => {
  const inks = (language: string, text: string) =>
    hunkColours(null, language, [line('added', null, 1, text)])[0]?.map((range) => [
      text.slice(range.from, range.to),
      range.ink,
    ]);
  expect(inks('toml', 'axum = { version = "0.8 # no", n = 1 } # yes')).toEqual([
    ['axum', 'type'],
    ['version', 'type'],
    ['"0.8 # no"', 'literal'],
    ['n', 'type'],
    ['1', 'literal'],
    ['# yes', 'comment'],
  ]);
  expect(inks('bash', 'for f in "$x"; do echo ${y}#z # end')).toEqual([
    ['for', 'keyword'],
    ['in', 'keyword'],
    ['"$x"', 'literal'],
    ['do', 'keyword'],
    ['${y}', 'type'],
    ['# end', 'comment'],
  ]);
  expect([inks('cobol', 'MOVE 1'), inks('toml', 'a'.repeat(3_000))]).toEqual([[], []]);
});

it('has no grammar for what it does not know, and never loads one by a name that only looks like a member', async () => {
  expect([await grammar('cobol'), await grammar(''), await grammar('constructor')]).toEqual([null, null, null]);
});
