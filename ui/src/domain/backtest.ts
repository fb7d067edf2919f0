// The backtest of a change of rules, in words. Pure.

import type { Backtest, BacktestGroup, Verdict } from '../ipc/bindings';
import { count } from '../widgets/figures';

const became: Record<Verdict, string> = {
  allow: 'would have been allowed',
  ask: 'would have asked',
  deny: 'would have been denied',
};

/** The calls that a change turns to one verdict. */
interface Turned {
  to: Verdict;
  calls: number;
  /** "would have been allowed". */
  words: string;
  /** How many a person allowed, and rejected, by hand. */
  allowed: number;
  rejected: number;
}

/** Sums the changed calls by the new verdict; the loosening ones first. */
export function turned(changed: readonly BacktestGroup[]): Turned[] {
  return (['allow', 'ask', 'deny'] as const).flatMap((to) => {
    const groups = changed.filter((group) => group.to === to);
    const sum = (of: (group: BacktestGroup) => number) => groups.reduce((all, group) => all + of(group), 0);
    const calls = sum((group) => group.calls);
    return calls === 0
      ? []
      : [
          {
            to,
            calls,
            words: became[to],
            allowed: sum((group) => group.by_person_allowed),
            rejected: sum((group) => group.by_person_rejected),
          },
        ];
  });
}

/** Returns the number of changed calls that contradict the person's own answers. */
export function against({ to, allowed, rejected }: Turned): number {
  return to === 'allow' ? rejected : to === 'deny' ? allowed : 0;
}

/** "Against the last 1,000 calls". */
export function againstWords(calls: number): string {
  return calls === 1 ? 'Against the one call on record' : `Against the last ${count(calls)} calls`;
}

/** One line: "would have allowed 41 of the last 1,000; 3 of them you rejected". */
export function backtestLine(test: Backtest): string {
  const all = test.calls === 1 ? 'the one call on record' : `the last ${count(test.calls)}`;
  const lines = turned(test.changed).map((group) => {
    const some = test.calls === 1 ? all : `${count(group.calls)} of ${all}`;
    const bad = against(group);
    return bad === 0 ? resultWords(group.to, some) : `${resultWords(group.to, some)}; ${answerWords(group, bad)}`;
  });
  if (lines.length > 0) return `${lines.join('. ')}.`;
  return test.calls === 0 ? 'There is no recorded call yet.' : `Nothing would have changed for ${all}.`;
}

/** What would have become of some calls. */
function resultWords(to: Verdict, some: string): string {
  switch (to) {
    case 'allow':
      return `Would have allowed ${some}`;
    case 'ask':
      return `Would have asked for ${some}`;
    case 'deny':
      return `Would have denied ${some}`;
  }
}

/** What the person answered to those that speak against the change. */
function answerWords({ to, calls }: Turned, bad: number): string {
  if (to === 'allow') return calls === 1 ? 'you rejected it' : `${count(bad)} of them you rejected`;
  return calls === 1 ? 'you allowed it' : `${count(bad)} of them you allowed`;
}
