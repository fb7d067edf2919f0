// The settings of sandboxes and of servers' tools: problems of the typed text, by the bounds of the engine. Pure.

import type { SandboxSettings } from '../../ipc/bindings';

/** The least memory of a sandbox, in MiB. */
const MEMORY_MIB_LEAST = 256;
const MEMORY_MIB_MAX = 4_294_967_295;

/**
 * Reads the memory limit of a sandbox as it was typed, none for half of the machine's; or returns the problem with it.
 */
export function memoryOf(text: string): { value: number | null } | { problem: string } {
  const plain = text.trim().replace(/[,\s_](?=\d{3}\b)/g, '');
  if (plain === '') return { value: null };
  const value = Number(plain);
  if (!Number.isInteger(value) || value < 0)
    return { problem: 'Write a whole number of MiB, or nothing for half of the machine’s.' };
  if (value < MEMORY_MIB_LEAST) return { problem: `At least ${MEMORY_MIB_LEAST} MiB.` };
  return value > MEMORY_MIB_MAX ? { problem: 'That is more than any machine has.' } : { value };
}

/** Returns the settings with so much memory for each sandbox; none for half of the machine's. */
export function withMemory({ closed }: SandboxSettings, memory: number | null): SandboxSettings {
  return { closed, ...(memory !== null && { memory_mib: memory }) };
}

/** Returns the problem of a path that is to be closed; empty if there is none. */
export function pathProblem(path: string): string {
  const begins = path.startsWith('~/') || path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path);
  return begins && path.replace(/[\\/]+$/, '').length > 1
    ? ''
    : 'Write a path that begins with / or ~/, and is neither of them alone.';
}

/** Returns the problem of the name of a tool or a family of tools; empty if there is none. */
export function toolProblem(name: string): string {
  if (name === '*') return 'Switch the copies off instead.';
  return /^[^\s*]+\*?$/.test(name) ? '' : 'Write a tool’s id, or how the ids of a family begin and then *.';
}
