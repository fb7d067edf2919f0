// The claims of a server about a tool's safety, in words. It says so; nobody else does. Pure.

import type { ToolHints } from '../ipc/bindings';

/** One short claim for each hint that was given. */
export function claims(hints: ToolHints): string[] {
  const out: string[] = [];
  if (hints.readOnlyHint !== undefined) out.push(hints.readOnlyHint ? 'changes nothing' : 'changes things');
  if (hints.destructiveHint !== undefined) out.push(hints.destructiveHint ? 'may remove things' : 'removes nothing');
  if (hints.idempotentHint !== undefined) out.push(hints.idempotentHint ? 'twice is as once' : 'twice is not as once');
  if (hints.openWorldHint !== undefined)
    out.push(hints.openWorldHint ? 'reaches beyond its own data' : 'keeps to its own data');
  return out;
}
