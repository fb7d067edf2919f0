// The words of the report: what asked, and whether what passed can be undone.

import { msg } from '../../widgets/msg';
import type { QuestionCause, ToolQuestions, UnaskedReport } from '../../ipc/bindings';
import { count, duration, plural } from '../../widgets/figures';

/** What asked. */
export const causes: Record<QuestionCause, string> = {
  mode: 'no rule decided, and the mode asks',
  rule: msg('a rule'),
  capability: 'a place that is not open, or not certain',
  watchdog: msg('a watchdog'),
  effects: 'effects of a dry run',
  runs_later: 'what some program runs later on',
  undo: 'no undo',
  interaction: 'the agent wanted an answer',
  server: 'a server wanted an answer',
  unknown: 'not on record',
};

/** The tool of a group, with its program. */
export function toolOf({ tool, program }: ToolQuestions): string {
  return [tool ?? 'not on record', program].filter((word) => word !== null).join(': ');
}

/** Questions and how long agents waited for the answers: "3, waited 2 min 4 s". */
export const share = ({ questions, waited_ms }: { questions: number; waited_ms: number }): string =>
  `${count(questions)}, waited ${duration(waited_ms)}`;

/** Whether and how calls that passed can be undone, in one sentence. */
export function undoOf(unasked: UnaskedReport): string {
  const groups: [number, string][] = [
    [unasked.not_needed, 'changed nothing'],
    [unasked.secured, 'with a copy for undo'],
    [unasked.captured, 'with changes captured by a dry run'],
    [unasked.snapshot, 'with a snapshot'],
    [unasked.unsecured, 'cannot be undone'],
    [unasked.unknown, 'undo not on record'],
  ];
  const told = groups.filter(([calls]) => calls > 0).map(([calls, words]) => `${count(calls)} ${words}`);
  return [...told, `${plural(unasked.undoable, ['# change', '# changes'])} can still be undone`].join(' · ');
}
