// A JSON Schema as rows that a person can read: every member with its type, its limits and its meaning. Pure.

import { msg } from '../../widgets/msg';
import { count, either } from '../../widgets/figures';
import { asSchema, requiredOf, resolved, type Schema } from '../../widgets/form/schema';

/** One member, with those below it after it. */
export interface Row {
  /** Path of the member: `questions[].options`. */
  path: string;
  name: string;
  depth: number;
  type: string;
  required: boolean;
  description: string;
  /** Limits of the member in words: "at least 1", "at most 4,096 characters". */
  limits: string;
  /** Set when the host puts it in: from where. */
  internal: string | null;
}

const DEPTH_MAX = 6;
const ROWS_MAX = 400;

/** The type in words: "text", "whole number", "list of text", "one of 3"; where it leads on and on, "anything". */
export function typeWords(schema: Schema, root: Schema): string {
  return either(typesOf(schema, root, 0));
}

/** Tells whether a schema is of an object, whatever its members are. */
export function isObject(schema: Schema): boolean {
  return resolved(schema, schema)['type'] === 'object';
}

/** Every type that a value may have, in words, each once. */
function typesOf(schema: Schema, root: Schema, depth: number): string[] {
  if (depth > DEPTH_MAX) return [msg('anything')];
  const at = resolved(schema, root);
  if ('const' in at) return [`always ${JSON.stringify(at['const'])}`];
  const choices = at['enum'];
  if (Array.isArray(choices))
    return [
      choices.length <= 6
        ? choices.map((choice) => (typeof choice === 'string' ? choice : JSON.stringify(choice))).join(' | ')
        : `one of ${choices.length}`,
    ];
  const alternatives = at['anyOf'] ?? at['oneOf'];
  if (Array.isArray(alternatives))
    return [...new Set(alternatives.flatMap((one) => typesOf(asSchema(one), root, depth + 1)))];
  const type = at['type'];
  if (Array.isArray(type)) return type.map((one) => words[String(one)] ?? String(one));
  if (type === 'array' && at['items'] !== undefined)
    return [`list of ${either(typesOf(asSchema(at['items']), root, depth + 1))}`];
  return [typeof type === 'string' ? (words[type] ?? type) : msg('anything')];
}
const words: Record<string, string> = {
  string: msg('text'),
  integer: 'whole number',
  number: msg('number'),
  boolean: 'yes or no',
  object: msg('object'),
  array: msg('list'),
  null: msg('nothing'),
};

/** The limits in words. */
function limitWords(schema: Schema): string {
  const figure = (name: string) => (typeof schema[name] === 'number' ? count(schema[name] as number) : null);
  const out: string[] = [];
  const say = (name: string, text: (figure: string) => string) => {
    const value = figure(name);
    if (value !== null) out.push(text(value));
  };
  if (schema['minLength'] !== 1) say('minLength', (n) => `at least ${n} characters`);
  else out.push('not empty');
  say('maxLength', (n) => `at most ${n} characters`);
  say('minimum', (n) => `at least ${n}`);
  say('exclusiveMinimum', (n) => `more than ${n}`);
  say('maximum', (n) => `at most ${n}`);
  say('exclusiveMaximum', (n) => `less than ${n}`);
  say('multipleOf', (n) => `a multiple of ${n}`);
  say('minItems', (n) => `at least ${n}`);
  say('maxItems', (n) => `at most ${n}`);
  if (typeof schema['pattern'] === 'string') out.push(`matching ${schema['pattern']}`);
  if (typeof schema['format'] === 'string') out.push(`written as ${schema['format']}`);
  if ('default' in schema) out.push(`${JSON.stringify(schema['default'])} if left out`);
  return out.join(', ');
}

/** Every member of a schema, outermost first; cut where it is deep or long. */
export function rowsOf(value: unknown): Row[] {
  const root = asSchema(value);
  const rows: Row[] = [];
  members(root, root, '', 0, rows);
  return rows;
}

function members(schema: Schema, root: Schema, path: string, depth: number, rows: Row[]): void {
  const at = resolved(schema, root);
  const required = requiredOf(at);
  for (const [name, value] of Object.entries(asSchema(at['properties']))) {
    if (rows.length >= ROWS_MAX) return;
    const member = resolved(asSchema(value), root);
    const here = path === '' ? name : `${path}.${name}`;
    const source = member['mutation_source'];
    rows.push({
      path: here,
      name,
      depth,
      type: typeWords(member, root),
      required: required.has(name),
      description: typeof member['description'] === 'string' ? member['description'] : '',
      limits: limitWords(member),
      internal: member['visibility'] === 'internal' ? (typeof source === 'string' ? source : 'the host') : null,
    });
    if (depth >= DEPTH_MAX) continue;
    members(member, root, here, depth + 1, rows);
    if (member['items'] !== undefined) members(asSchema(member['items']), root, `${here}[]`, depth + 1, rows);
  }
}
