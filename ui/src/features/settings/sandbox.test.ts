// Bounds of the settings for sandboxes and servers' tools: those of the engine (crates/protocol/src/settings/sandbox.rs).

import { expect, test } from 'vitest';
import { memoryOf, pathProblem, withMemory, toolProblem } from './sandbox';

test.each([
  ['', { value: null }],
  ['256', { value: 256 }],
  ['4,096', { value: 4096 }],
  ['4294967295', { value: 4_294_967_295 }],
])('%s MiB is taken', (typed, taken) => expect(memoryOf(typed)).toEqual(taken));

test.each(['255', '0', '-1', '1.5', 'much', '4294967296'])('%s MiB is not', (typed) =>
  expect(memoryOf(typed)).toHaveProperty('problem'),
);

test('half of the machine is said by leaving it out', () => {
  expect(withMemory({ closed: ['/a'], memory_mib: 512 }, null)).toEqual({ closed: ['/a'] });
  expect(withMemory({ closed: [] }, 1024)).toEqual({ closed: [], memory_mib: 1024 });
});

test.each([
  ['~/keys', true],
  ['/srv/keys/', true],
  ['C:\\keys', true],
  ['keys', false],
  ['', false],
  ['/', false],
  ['~/', false],
  ['~other/keys', false],
])('the path %s', (path, fits) => expect(pathProblem(path) === '').toBe(fits));

test.each([
  ['files__read_file', true],
  ['files__read_*', true],
  ['*', false],
  ['files__*_x', false],
  ['two words', false],
])('the tool %s', (name, fits) => expect(toolProblem(name) === '').toBe(fits));
