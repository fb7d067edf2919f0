// The arguments of a call that a person changed. Pure.

/** The members that a person changed, added or took away, in the order they are written. */
export function changedMembers(agent: Record<string, unknown>, person: Record<string, unknown>): string[] {
  const names = [...new Set([...Object.keys(agent), ...Object.keys(person)])];
  return names.filter((name) => JSON.stringify(agent[name]) !== JSON.stringify(person[name]));
}
