// The list of sessions stays as it is while a stream moves nothing but the time of its session.

import { expect, it } from 'vitest';
import type { SessionView } from '../ipc/bindings';
import { withSteadyTimes } from './session_times';

// Parts that no event replaces.
const model = { provider: 'demo', model: '' };
const usage = { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_usd: null };

const session = (id: string, changed_at: number, more: Partial<SessionView> = {}): SessionView => ({
  id,
  title: id,
  workspace: '/w',
  model,
  state: 'running',
  opened_at: 0,
  changed_at,
  waiting: 0,
  turns: 0,
  usage,
  ...more,
});

it('is the same list while times move a little', () => {
  const before = [session('a', 1_000), session('b', 1_000)];
  expect(withSteadyTimes(before, [session('a', 5_999), before[1] as SessionView])).toBe(before);
});

it('tells the time of a long stream, and leaves the other sessions as they are', () => {
  const before = [session('a', 1_000), session('b', 1_000)];
  const after = withSteadyTimes(before, [session('a', 6_000), session('b', 2_000)]);
  expect(after.map(({ changed_at }) => changed_at)).toEqual([6_000, 1_000]);
  expect(after[1]).toBe(before[1]);
});

it('tells anything else at once', () => {
  const before = [session('a', 1_000)];
  for (const more of [{ waiting: 1 }, { state: 'done' }, { place: 'pinned' }, { turns: 1 }] as const) {
    const now = session('a', 1_001, more);
    expect(withSteadyTimes(before, [now])).toEqual([now]);
  }
  const pinned = [session('a', 1_000, { place: 'pinned' })];
  expect(withSteadyTimes(pinned, [session('a', 1_001)])[0]?.place).toBeUndefined();
});

it('follows sessions that come, go, and change their places', () => {
  const [a, b, c] = [session('a', 1_000), session('b', 1_000), session('c', 1_000)];
  expect(withSteadyTimes([a, b], [c, a, b])).toEqual([c, a, b]);
  expect(withSteadyTimes([a, b], [b])).toEqual([b]);
  expect(withSteadyTimes([a, b], [b, a])).toEqual([b, a]);
});
