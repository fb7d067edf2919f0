// Arguments as an object of members: read from text, compared, and written in the order in which they were given. Pure.

import type { Problem } from './fields';

/** Arguments. */
export type Members = Record<string, unknown>;

/**
 * Reads JSON text with an object in it. A problem names the line where the text stops being JSON, where the platform
 * tells it.
 */
export function parseObject(text: string): { value: Members | undefined; problems: readonly Problem[] } {
  const wrong = (problem: string) => ({ value: undefined, problems: [{ path: null, text: problem }] });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    const said = thrown instanceof Error ? thrown.message : String(thrown);
    const at = /position (\d+)/.exec(said)?.[1];
    if (at === undefined) return wrong(`This is not JSON. ${said}`);
    const line = text.slice(0, Number(at)).split('\n').length;
    return wrong(`This is not JSON in line ${line}. ${said}`);
  }
  if (!isMembers(value)) return wrong('Arguments are an object: { "name": value, … }.');
  return { value, problems: [] };
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the same value with the members of each object in the order of `given`; new members come after. */
export function likeGiven<T>(value: T, given: unknown): T {
  if (Array.isArray(value))
    return value.map((item, i): unknown => likeGiven(item, Array.isArray(given) ? given[i] : undefined)) as T;
  if (!isMembers(value)) return value;
  const before = isMembers(given) ? given : {};
  const names = [
    ...Object.keys(before).filter((name) => Object.hasOwn(value, name)),
    ...Object.keys(value).filter((name) => !Object.hasOwn(before, name)),
  ];
  return Object.fromEntries(names.map((name) => [name, likeGiven((value as Members)[name], before[name])])) as T;
}

/** Tells whether two values are the same, in whatever order their members stand. */
export function alike(one: unknown, other: unknown): boolean {
  return JSON.stringify(likeGiven(one, other)) === JSON.stringify(other);
}
