// The tree of sessions: which session works for which.

import { expect, test } from 'vitest';
import type { SessionView } from '../ipc/bindings';
import { tasksByCall, withDescendants, ancestors, sessionList } from './sub_agents';

const one = (id: string, parent?: string, more: Partial<SessionView> = {}): SessionView => ({
  id,
  title: id,
  workspace: '/w',
  model: { provider: 'demo', model: '' },
  state: 'done',
  opened_at: 0,
  changed_at: 0,
  waiting: 0,
  turns: 1,
  usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost_usd: null },
  ...(parent && { parent: { session: parent, call: `call_${parent}` } }),
  ...more,
});
// The newest first, as the engine tells them.
const all = [
  one('e', 'd', { state: 'running' }),
  one('d', 'a'),
  one('c', 'b'),
  one('b', 'a', { opened_at: 1 }),
  one('x'),
  one('a'),
];

test('a line of descent, and a family', () => {
  expect(ancestors(all, 'e').map(({ id }) => id)).toEqual(['a', 'd', 'e']);
  expect(ancestors(all, 'nobody')).toEqual([]);
  expect([...withDescendants(all, 'a')].sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect([...withDescendants(all, 'x')]).toEqual(['x']);
});

test('those that work for a call stand in the order in which they began', () => {
  expect([...tasksByCall(all, 'a')].map(([call, sessions]) => [call, sessions.map(({ id }) => id)])).toEqual([
    ['call_a', ['d', 'b']],
  ]);
});

test('only what is at work stands below a session, and what is looked at', () => {
  const lines = (open: string | null) =>
    sessionList(all, open).map(({ session, depth }) => `${'-'.repeat(depth)}${session.id}`);
  expect(lines(null)).toEqual(['x', 'a', '-d', '--e']);
  expect(lines('c')).toEqual(['x', 'a', '-b', '--c', '-d', '--e']);
});

test('one whose caller is not known stands by itself, and a circle ends', () => {
  expect(sessionList([one('b', 'gone')], null).map(({ depth }) => depth)).toEqual([0]);
  const circle = [one('p', 'q'), one('q', 'p')];
  expect(ancestors(circle, 'p').length).toBe(16);
  expect([...withDescendants(circle, 'p')].sort()).toEqual(['p', 'q']);
});
