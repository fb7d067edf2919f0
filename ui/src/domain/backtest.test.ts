// Words for the calls that a change of rules would have decided otherwise.

import { expect, test } from 'vitest';
import type { Backtest, BacktestGroup } from '../ipc/bindings';
import { against, backtestLine, turned } from './backtest';

const group = (
  from: BacktestGroup['from'],
  to: BacktestGroup['to'],
  calls: number,
  by_person_allowed = 0,
  by_person_rejected = 0,
): BacktestGroup => ({ from, to, calls, by_person_allowed, by_person_rejected });
const of = (calls: number, ...changed: BacktestGroup[]): Backtest => ({
  calls,
  changed,
  examples: [],
  unclear: [],
  took_us: 1,
});

test.each<[Backtest, string]>([
  [of(0), 'There is no recorded call yet.'],
  [of(1_000), 'Nothing would have changed for the last 1,000.'],
  [of(1_000, group('ask', 'allow', 41, 38, 3)), 'Would have allowed 41 of the last 1,000; 3 of them you rejected.'],
  [
    of(12, group('allow', 'deny', 2, 1, 0), group('ask', 'deny', 1, 1, 0)),
    'Would have denied 3 of the last 12; 2 of them you allowed.',
  ],
  [
    of(9, group('allow', 'ask', 4), group('ask', 'allow', 1)),
    'Would have allowed 1 of the last 9. Would have asked for 4 of the last 9.',
  ],
  [of(1), 'Nothing would have changed for the one call on record.'],
  [of(1, group('ask', 'allow', 1, 0, 1)), 'Would have allowed the one call on record; you rejected it.'],
  [of(7, group('ask', 'deny', 1, 1, 0)), 'Would have denied 1 of the last 7; you allowed it.'],
])('%#', (test_, line) => expect(backtestLine(test_)).toBe(line));

test('calls that come to the same are told together, what loosens first', () => {
  const groups = turned([
    group('allow', 'deny', 2, 2, 0),
    group('ask', 'allow', 5, 3, 2),
    group('deny', 'allow', 1, 0, 1),
    group('allow', 'ask', 4, 1, 1),
  ]);
  expect(groups.map((one) => [one.to, one.calls, against(one)])).toEqual([
    ['allow', 6, 3],
    ['ask', 4, 0],
    ['deny', 2, 2],
  ]);
});
