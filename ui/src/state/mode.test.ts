// The table that the engine's classifier is held to as well: S000-42.

import { describe, expect, it } from 'vitest';
import type { ToolKind } from '../ipc/bindings/ToolKind';
import type { ToolMode } from '../ipc/bindings/ToolMode';
import cases from '../../../tests/cases/classify.json';
import { classify, stricterThan } from './mode';

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

describe('the classifier', () => {
  it.each(cases as Case[])('$id $name is $mode', (row) => {
    const declared = {
      mode: row.given,
      kind: row.given_kind,
      isDestructive: row.is_destructive,
      isOpenWorld: row.is_open_world,
    };
    expect(classify(row.name, declared)).toEqual({ mode: row.mode, kind: row.kind });
  });
});

describe('what is stricter', () => {
  it.each([
    ['read', ['external', 'safe_write', 'destructive', 'local']],
    ['destructive', ['local']],
    ['local', []],
    [null, []],
  ] as const)('than %s', (own, modes) => expect(stricterThan(own)).toEqual(modes));
});
