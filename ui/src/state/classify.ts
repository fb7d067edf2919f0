// From a tool's name, and what it declared, to its mode and kind: the same table as the engine's (policy::classify), held to it
// by tests/cases/classify.json.

import type { ToolInterface } from '../ipc/bindings/ToolInterface';
import type { ToolKind } from '../ipc/bindings/ToolKind';
import type { ToolMode } from '../ipc/bindings/ToolMode';

/** What a tool declares that bears on its mode and kind. */
export interface Declared {
  mode: ToolMode | null;
  kind: ToolKind | null;
  is_destructive: boolean;
  is_open_world: boolean;
}

/** Modes from the one that is watched least to the one that is watched most. */
export const BY_STRICTNESS: readonly ToolMode[] = ['read', 'external', 'safe_write', 'destructive', 'local'];

const PATTERNS: readonly (readonly [RegExp, ToolMode])[] = [
  [/^(get|list|read|search)_/, 'read'],
  [/^(create|update|add|set)_/, 'safe_write'],
  [/^(delete|remove|archive|drop)_/, 'destructive'],
  [/^(local_|shell_|exec)/, 'local'],
];

/** What an interface declares. */
export function declaredBy(record: ToolInterface): Declared {
  const { mode, kind, is_destructive, is_open_world } = record.safety;
  return { mode, kind: record.inferred.includes('safety.kind') ? null : kind, is_destructive, is_open_world };
}

/** The mode that a name alone implies; none if it fits no pattern. */
export function modeOfName(name: string): ToolMode | null {
  return PATTERNS.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

/** Mode and kind of a tool. What was declared wins over the name; hints only make it stricter. */
export function classify(name: string, declared: Declared): { mode: ToolMode | null; kind: ToolKind } {
  const mode = tightened(declared.mode ?? modeOfName(name), declared);
  return { mode, kind: declared.kind ?? kindOf(name, mode) };
}

function tightened(mode: ToolMode | null, declared: Declared): ToolMode | null {
  if (mode === null) return null;
  if (declared.is_destructive && mode !== 'local') return 'destructive';
  return mode === 'read' && declared.is_open_world && declared.mode === null ? 'external' : mode;
}

function kindOf(name: string, mode: ToolMode | null): ToolKind {
  switch (mode) {
    case 'read':
      return name.startsWith('search_') ? 'search' : 'read';
    case 'safe_write':
      return 'edit';
    case 'destructive':
      return 'delete';
    case 'local':
      return 'execute';
    case 'external':
      return 'fetch';
    case null:
      return 'other';
  }
}

/** How strict a mode is; no mode asks, as a local one does. */
export function strictness(mode: ToolMode | null): number {
  return mode === null ? BY_STRICTNESS.length - 1 : BY_STRICTNESS.indexOf(mode);
}

/** The modes that a person may choose instead of a tool's own: those that are stricter. */
export function stricterThan(own: ToolMode | null): readonly ToolMode[] {
  return BY_STRICTNESS.filter((mode) => strictness(mode) > strictness(own));
}
