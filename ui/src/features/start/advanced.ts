// Reads the seldom needed fields of a new session, and finds their problems. Pure.

/** What was typed, as it is sent; nothing for what was left empty. */
export type Typed<Value> = { value: Value | null } | { problem: string };

/** The least and the most that any model takes. */
const [LEAST, MOST] = [0, 2];

/** An output schema as it was typed. Whether it is one in full, the engine says. */
export function schemaOf(text: string): Typed<Record<string, unknown>> {
  if (text.trim() === '') return { value: null };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (thrown) {
    return { problem: `This is not JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}` };
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject
    ? { value: value as Record<string, unknown> }
    : { problem: 'Write a JSON Schema of an object, such as {"type": "object", "properties": {…}}.' };
}

/** A temperature as it was typed. */
export function temperatureOf(text: string): Typed<number> {
  const plain = text.trim();
  if (plain === '') return { value: null };
  const value = Number(plain);
  return value >= LEAST && value <= MOST
    ? { value }
    : { problem: `Write a number from ${LEAST} to ${MOST}, such as 0.2.` };
}
