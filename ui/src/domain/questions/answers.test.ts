// Answers while they are given (S002-34 to S002-36): one, several, or one's own words.

import { expect, it } from 'vitest';
import type { Question } from '../../ipc/bindings';
import { answerOf, answersOf, blank, isAnswered, withOption, withOther, withText } from './answers';

const one: Question = { question: 'Where?', options: [{ label: 'Here' }, { label: 'There' }], multi_select: false };
const many: Question = {
  question: 'What?',
  options: [{ label: 'A' }, { label: 'B' }, { label: 'C' }],
  multi_select: true,
};
const free: Question = { question: 'Why?', multi_select: false };

it('one choice replaces the other, and the free answer replaces both', () => {
  const here = withOption(one, blank(one), 0, true);
  const there = withOption(one, here, 1, true);
  const other = withText(one, there, ' elsewhere ');
  const back = withOption(one, other, 0, true);
  expect([here, there, other, back].map((draft) => answerOf(one, draft))).toEqual([
    ['Here'],
    ['There'],
    ['elsewhere'],
    ['Here'],
  ]);
});

it('several choices stand in the order of the options, with the free answer last', () => {
  const draft = withText(many, withOption(many, withOption(many, blank(many), 2, true), 0, true), 'D');
  expect(answerOf(many, draft)).toEqual(['A', 'C', 'D']);
  expect(answerOf(many, withOther(many, withOption(many, draft, 2, false), false))).toEqual(['A']);
});

it('the free answer needs words', () => {
  expect(isAnswered(one, withOther(one, blank(one), true))).toBe(false);
  expect(isAnswered(many, withOther(many, withOption(many, blank(many), 0, true), true))).toBe(false);
  expect(isAnswered(free, blank(free))).toBe(false);
  expect(answerOf(free, withText(free, blank(free), 'because'))).toEqual(['because']);
});

it('nothing is sent while an answer is missing', () => {
  expect(answersOf([one, many], [withOption(one, blank(one), 0, true), blank(many)])).toBeNull();
  expect(answersOf([one, free], [withOption(one, blank(one), 0, true), withText(free, blank(free), 'x')])).toEqual([
    ['Here'],
    ['x'],
  ]);
  expect(answersOf([one], [])).toBeNull();
});
