// The hunks that are applied, and the wording of the choice.

import { expect, it } from 'vitest';
import { parser, query } from '../../gallery/sample_diffs';
import { samples } from '../../gallery/samples';
import { chosen, hunkNames, hunksToApply, withHunks } from './hunks';
import { grantLines, mainWords } from './words';

const view = samples.hunks.body;
const grants = view.pending?.grants ?? [];

it('everything is chosen at first, and then nothing is named', () => {
  const pick = chosen([parser], new Set());
  expect(pick).toEqual({ all: 3, ids: [0, 1, 2], left: [], added: 4, removed: 2 });
  expect(hunksToApply(pick)).toBeNull();
  expect(mainWords(view, pick)).toBe('Allow');
});

it('what is left out is told, and the rest is named', () => {
  const pick = chosen([parser], new Set([2]));
  expect(pick).toEqual({ all: 3, ids: [0, 1], left: [2], added: 3, removed: 1 });
  expect(hunksToApply(pick)).toEqual([0, 1]);
  expect(mainWords(view, pick)).toBe('Allow 2 of 3 hunks');
  expect(grantLines(grants, view, pick)[0]).toEqual({
    tells: true,
    reach: 'Once',
    button: 'Allow',
    text: 'writes the 2 checked hunks and tells the agent that hunk 3 was left out.',
  });
});

it('nothing chosen is said as such', () => {
  const pick = chosen([parser], new Set([0, 1, 2]));
  expect(hunksToApply(pick)).toEqual([]);
  expect(mainWords(view, pick)).toBe('Allow 0 of 3 hunks');
  expect(grantLines(grants, view, pick)[0]?.text).toBe('needs at least one checked hunk.');
});

it('hunks go in and out, and ids that are gone are forgotten', () => {
  expect([...withHunks(new Set([1]), [1, 2], true)]).toEqual([]);
  expect([...withHunks(new Set([1]), [1, 2], false)]).toEqual([1, 2]);
  expect(chosen([query], new Set([7])).left).toEqual([]);
});

it('hunks are counted from one', () => {
  expect([[], [2], [1, 2], [0, 1, 4]].map(hunkNames)).toEqual([
    'no hunk',
    'hunk 3',
    'hunks 2 and 3',
    'hunks 1, 2 and 5',
  ]);
});
