// Programs around calls as they are typed: the bounds of the engine (crates/protocol/src/settings/programs.rs).

import { expect, test } from 'vitest';
import { blank, hookOf, problemsOf, watchdogOf, whenWords, withPoint, type Draft } from './programs';

const good: Draft = { name: ' audit ', program: ' /home/mira/bin/audit ', timeout: ' 2000 ', on: ['before', 'after'] };

test('what is right is saved as it was typed', () => {
  expect(problemsOf(good, [{ name: 'other' }], true)).toEqual({});
  expect(watchdogOf(good)).toEqual({ name: 'audit', program: '/home/mira/bin/audit', timeout_ms: 2000 });
  expect(hookOf(good)).toEqual({
    name: 'audit',
    program: '/home/mira/bin/audit',
    timeout_ms: 2000,
    on: ['before', 'after'],
  });
});

test.each<[keyof Draft, Partial<Draft>]>([
  ['name', { name: ' ' }],
  ['name', { name: 'taken' }],
  ['program', { program: '' }],
  ['program', { program: 'bin/audit' }],
  ['program', { program: '/' }],
  ['timeout', { timeout: '' }],
  ['timeout', { timeout: '0' }],
  ['timeout', { timeout: '30001' }],
  ['timeout', { timeout: '1.5' }],
  ['on', { on: [] }],
])('%s of %o is told', (field, change) => {
  expect(Object.keys(problemsOf({ ...good, ...change }, [{ name: 'taken' }], true))).toEqual([field]);
});

test('a watchdog is started before each call, and chooses nothing', () => {
  expect(problemsOf({ ...good, on: [] }, [], false)).toEqual({});
});

test('points stand in their order', () => {
  expect(withPoint(['after'], 'before', true)).toEqual(['before', 'after']);
  expect(withPoint(['before', 'after'], 'before', false)).toEqual(['after']);
  expect([whenWords(['before', 'after']), whenWords([])]).toEqual(['before a call and after a call', 'never started']);
  expect(blank.on).toEqual(['before']);
});
