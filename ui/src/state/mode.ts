// What a tool's name and declarations imply: the engine's classifier once more, held to the same table of cases.

import type { ToolKind } from '../ipc/bindings/ToolKind';
import type { ToolMode } from '../ipc/bindings/ToolMode';

/** What a tool declares that bears on its mode and kind. What is left out was not declared. */
export interface Declared {
  mode?: ToolMode;
  kind?: ToolKind;
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
