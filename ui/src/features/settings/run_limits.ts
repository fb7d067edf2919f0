// The strategy and the limits of a run as a person sets them: words and problems. Pure.

import type { RunLimits, Strategy } from '../../ipc/bindings';
import { count } from '../../widgets/figures';

/** A strategy by its name alone. */
export type StrategyName = 'parallel' | 'sequential' | 'batched';

/** The number of calls a batch has before somebody says otherwise. */
const BATCH_SIZE = 4;
const BATCH_MAX = 100;

/** The name of a strategy. */
export function nameOf(strategy: Strategy): StrategyName {
  return typeof strategy === 'string' ? strategy : 'batched';
}

/** A strategy by its name; a batch keeps its size. */
export function strategyOf(name: StrategyName, before: Strategy): Strategy {
  if (name !== 'batched') return name;
  return typeof before === 'string' ? { batched: { size: BATCH_SIZE } } : before;
}

/** Describes each strategy in a sentence. */
export const strategyWords: Record<StrategyName, string> = {
  parallel: 'Up to ten at once, where that is proven safe',
  sequential: 'Each after the one before; you can steer between any two',
  batched: 'So many at once, and you can steer between the batches',
};

/** Every limit, in the order it is shown. */
export const limits: readonly { name: keyof RunLimits; text: string; hint: string }[] = [
  { name: 'turns', text: 'Model turns', hint: '' },
  { name: 'calls', text: 'Calls', hint: '' },
  { name: 'tokens', text: 'Tokens', hint: 'Read and written' },
  { name: 'cost_usd', text: 'Cost in dollars', hint: 'Where the price is known' },
  { name: 'minutes', text: 'Minutes at work', hint: 'Waiting for you does not count' },
  { name: 'repeats', text: 'Repeated calls', hint: 'In a row, with the same result; a command or change then asks' },
];

/** Reads a number as it was typed, or returns the problem with it. Grouping commas and spaces are allowed. */
export function amountOf(name: keyof RunLimits, text: string): { value: number } | { problem: string } {
  const plain = text
    .trim()
    .replace(/[,\s_](?=\d{3}\b)/g, '')
    .replace(/^\$/, '');
  const value = Number(plain);
  if (plain === '' || !Number.isFinite(value) || value < 0) return { problem: 'Write a number, or 0 for no limit.' };
  if (name !== 'cost_usd' && !Number.isInteger(value)) return { problem: 'Write a whole number.' };
  const max = name === 'tokens' ? Number.MAX_SAFE_INTEGER : 4_294_967_295;
  return value > max ? { problem: 'That is more than can be counted. Use 0 for no limit.' } : { value };
}

/** Returns the text below a limit: the unit that it counts, and a long figure in readable form. */
export function limitHint(value: number, hint: string): string {
  if (value === 0) return 'No limit';
  return value < 10_000
    ? hint
    : [count(value), hint.charAt(0).toLowerCase() + hint.slice(1)].filter(Boolean).join(', ');
}

/** Reads the size of a batch as it was typed, or returns the problem with it. */
export function sizeOf(text: string): { value: number } | { problem: string } {
  const value = Number(text.trim());
  if (text.trim() === '' || !Number.isInteger(value) || value < 1)
    return { problem: 'Write a whole number, at least 1.' };
  return value > BATCH_MAX ? { problem: `At most ${BATCH_MAX}.` } : { value };
}
