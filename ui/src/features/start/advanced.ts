// Reads the seldom needed fields of a new session, and finds their problems. Pure.

/** A typed value in the form in which it is sent; null for an empty field. */
type Typed<Value> = { value: Value | null } | { problem: string };

/** Lowest and highest temperature that any model takes. */
const [LEAST, MOST] = [0, 2];

/** Reads an output schema as it was typed. The engine checks whether it is a valid schema in full. */
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
