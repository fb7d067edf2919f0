// What a tool's name and declarations imply: the engine's classifier once more, held to the same table of cases.

import type { ToolInterface } from '../ipc/bindings/ToolInterface';
import type { ToolKind } from '../ipc/bindings/ToolKind';
import type { ToolMode } from '../ipc/bindings/ToolMode';

/** What a tool declares that bears on its mode and kind. What is left out was not declared. */
export interface Declared {
  mode?: ToolMode | undefined;
  kind?: ToolKind | undefined;
  isDestructive?: boolean;
  isOpenWorld?: boolean;
}

/** Name beginnings and the mode that they imply, as the specification writes them. */
const PATTERNS: [RegExp, ToolMode][] = [
  [/^(get|list|read|search)_/, 'read'],
  [/^(create|update|add|set)_/, 'safe_write'],
  [/^(delete|remove|archive|drop)_/, 'destructive'],
  [/^(local_|shell_|exec)/, 'local'],
];

const KINDS: Record<ToolMode, ToolKind> = {
  read: 'read',
  safe_write: 'edit',
  destructive: 'delete',
  local: 'execute',
  external: 'fetch',
};

/** Mode and kind of a tool; no mode if nothing says which. Hints only tighten. */
export function classify(name: string, declared: Declared = {}): { mode: ToolMode | null; kind: ToolKind } {
  const byName = PATTERNS.find(([pattern]) => pattern.test(name))?.[1] ?? null;
  let mode = declared.mode ?? byName;
  if (declared.isDestructive && mode !== null && mode !== 'local') mode = 'destructive';
  else if (declared.isOpenWorld && mode === 'read' && !declared.mode) mode = 'external';
  const implied = mode === null ? 'other' : KINDS[mode];
  const searches = mode === 'read' && name.startsWith('search_');
  return { mode, kind: declared.kind ?? (searches ? 'search' : implied) };
}

/** What an interface declares. */
export function declaredBy(record: ToolInterface): Declared {
  const { mode, kind, is_destructive, is_open_world } = record.safety;
  const said = !record.inferred.includes('safety.kind');
  return { ...(mode !== null && { mode }), ...(said && { kind }), isDestructive: is_destructive, isOpenWorld: is_open_world };
}

/** Modes from the one that is watched least to the one that is watched most. */
const BY_STRICTNESS: readonly ToolMode[] = ['read', 'external', 'safe_write', 'destructive', 'local'];

/** The modes that a person may choose instead of a tool's own: those that are stricter. No mode asks, as the strictest does. */
export function stricterThan(own: ToolMode | null): readonly ToolMode[] {
  return own === null ? [] : BY_STRICTNESS.slice(BY_STRICTNESS.indexOf(own) + 1);
}
