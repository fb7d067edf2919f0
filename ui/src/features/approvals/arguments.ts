// Arguments as a person edits them: JSON text with an object in it.

/** The arguments, or what is wrong with the text. */
export type Parsed = { ok: true; value: Record<string, unknown> } | { ok: false; problem: string };

/** Reads the text. The problem names the place where the text stops being JSON, where the platform tells it. */
export function parseArguments(text: string): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    const said = thrown instanceof Error ? thrown.message : String(thrown);
    const at = /position (\d+)/.exec(said)?.[1];
    const place = at === undefined ? '' : ` in line ${text.slice(0, Number(at)).split('\n').length}`;
    return { ok: false, problem: `This is not JSON${place}. ${said}` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, problem: 'Arguments are an object: { "name": value, … }.' };
  }
  return { ok: true, value: value as Record<string, unknown> };
}

/** The members that a person changed, added or took away, in the order they are written. */
export function changedMembers(agent: Record<string, unknown>, person: Record<string, unknown>): string[] {
  const names = [...new Set([...Object.keys(agent), ...Object.keys(person)])];
  return names.filter((name) => JSON.stringify(agent[name]) !== JSON.stringify(person[name]));
}
