// S000-42: the interface classifies by the same table of cases as the engine.

import { expect, test } from 'vitest';
import cases from '../../../tests/cases/classify.json';
import { classify, modeOfName, stricterThan, strictness } from './classify';
import type { ToolKind } from '../ipc/bindings/ToolKind';
import type { ToolMode } from '../ipc/bindings/ToolMode';

interface Case {
  id: string;
  name: string;
  given?: ToolMode;
  given_kind?: ToolKind;
  is_destructive?: boolean;
  is_open_world?: boolean;
  mode: ToolMode | null;
  kind: ToolKind;
}

test.each(cases as Case[])('$id $name', ({ name, given = null, given_kind = null, is_destructive = false, is_open_world = false, mode, kind }) => {
  expect(classify(name, { mode: given, kind: given_kind, is_destructive, is_open_world })).toEqual({ mode, kind });
  // M16: a hint never loosens.
  const without = classify(name, { mode: given, kind: given_kind, is_destructive: false, is_open_world: false });
  expect(strictness(mode)).toBeGreaterThanOrEqual(strictness(without.mode));
});

test('a name alone, and what is stricter', () => {
  expect([modeOfName('execute'), modeOfName('fetch_page')]).toEqual(['local', null]);
  expect([stricterThan('read'), stricterThan('destructive'), stricterThan('local'), stricterThan(null)]).toEqual([['external', 'safe_write', 'destructive', 'local'], ['local'], [], []]);
});
