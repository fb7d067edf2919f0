// Answers to a form while they are being given. Pure.

import type { Question } from '../../ipc/bindings';

/** Draft of the answer to one question. */
export interface Draft {
  /** Indices of the chosen options. */
  picked: readonly number[];
  /** Whether the free answer is chosen. */
  otherOn: boolean;
  /** The free answer. */
  other: string;
}

/** Returns an empty draft. Where there is no option to choose, the free answer is chosen. */
export function blank(question: Question): Draft {
  return { picked: [], otherOn: (question.options ?? []).length === 0, other: '' };
}

/** One option chosen or cleared; where only one may be chosen, the others go. */
export function withOption(question: Question, draft: Draft, option: number, on: boolean): Draft {
  if (!question.multi_select) return { ...draft, picked: on ? [option] : [], otherOn: on ? false : draft.otherOn };
  const picked = draft.picked.filter((one) => one !== option);
  return { ...draft, picked: on ? [...picked, option].sort((a, b) => a - b) : picked };
}

/** The free answer chosen or cleared. */
export function withOther(question: Question, draft: Draft, on: boolean): Draft {
  return { ...draft, otherOn: on, picked: on && !question.multi_select ? [] : draft.picked };
}

/** The free answer's text; writing something chooses it. */
export function withText(question: Question, draft: Draft, text: string): Draft {
  return { ...(text.trim() === '' ? draft : withOther(question, draft, true)), other: text };
}

/** The answer: labels in their order, then the free answer. Empty: not answered. */
export function answerOf(question: Question, draft: Draft): string[] {
  const labels = draft.picked.flatMap((at) => question.options?.[at]?.label ?? []);
  const other = draft.other.trim();
  return draft.otherOn && other !== '' ? [...labels, other] : labels;
}

/** Tells whether a draft is an answer: the free one needs words. */
export function isAnswered(question: Question, draft: Draft): boolean {
  return answerOf(question, draft).length > 0 && !(draft.otherOn && draft.other.trim() === '');
}

/** All answers, in order; none while one is missing. */
export function answersOf(questions: readonly Question[], drafts: readonly Draft[]): string[][] | null {
  const complete = questions.every((question, i) => drafts[i] !== undefined && isAnswered(question, drafts[i]));
  return complete ? questions.map((question, i) => answerOf(question, drafts[i] as Draft)) : null;
}
