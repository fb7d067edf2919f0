// The few words of JSON Schema that the page reads: members, and the targets of local references. Pure.

/** A schema as it comes: an object, or `true` and `false`. */
export type Schema = Readonly<Record<string, unknown>>;

/** How often a reference may lead to another one. */
const REFERENCES_MAX = 6;

/** Returns an object, or an empty one for any other value. */
export function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {};
}

/** Resolves a local reference, following a few steps; nothing is ever fetched. */
export function resolved(schema: Schema, root: Schema): Schema {
  let at = schema;
  for (let steps = 0; steps < REFERENCES_MAX && typeof at['$ref'] === 'string'; steps += 1) {
    const { $ref, ...beside } = at;
    const path = $ref as string;
    if (!path.startsWith('#')) return at;
    const names = path.slice(1).split('/').filter(Boolean);
    const found = names.reduce<unknown>((value, name) => asSchema(value)[unescaped(name)], root);
    if (found === undefined) return at;
    at = { ...asSchema(found), ...beside };
  }
  return at;
}

function unescaped(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The members that must be there. */
export function requiredOf(schema: Schema): ReadonlySet<string> {
  const names = schema['required'];
  return new Set(Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []);
}
