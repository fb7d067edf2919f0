// A form made of a JSON Schema: its fields, the typed drafts, and the arguments that result. Pure.

import { alike } from './members';
import { asSchema, requiredOf, resolved, type Schema } from './schema';

/** A field by the kind of its value. */
export type FormField =
  | { kind: 'text'; long: boolean; limit: number | null }
  | { kind: 'number'; whole: boolean }
  | { kind: 'boolean' }
  | { kind: 'choice'; options: readonly unknown[] }
  | { kind: 'object'; members: readonly Member[] }
  | { kind: 'list'; item: FormField; max: number }
  /** A value that a form cannot express: typed as JSON. */
  | { kind: 'json' };

/** A member of an object. */
interface Member {
  name: string;
  /** Its name for people, where the schema has one. */
  title: string;
  required: boolean;
  description: string;
  field: FormField;
}

/** Value of a field: text as typed, `null` for nothing chosen. */
export type Draft = string | boolean | number | null | { [name: string]: Draft } | Draft[];

/** A problem and its place: the path of a field such as `questions[0].question`; none for the whole form. */
export interface Problem {
  path: string | null;
  text: string;
}

/** Result of reading a draft: its value (none if it is left out), and its problems. */
interface Come {
  value: unknown;
  problems: readonly Problem[];
}

const DEPTH_MAX = 5;
const MEMBERS_MAX = 60;
const ITEMS_MAX = 50;
/** Members that usually hold more than a line. */
const LONG = /(^|_)(content|text|body|code|prompt|patch|string|script|message|command)s?($|_)/i;

/** The field for a schema. */
export function fieldOf(value: unknown, root: Schema = asSchema(value), name = '', depth = 0): FormField {
  const schema = resolved(asSchema(value), root);
  const choices = 'const' in schema ? [schema['const']] : schema['enum'];
  if (Array.isArray(choices)) return { kind: 'choice', options: choices };
  switch (schema['type']) {
    case 'string': {
      const limit = typeof schema['maxLength'] === 'number' ? schema['maxLength'] : null;
      return { kind: 'text', long: LONG.test(name) && (limit === null || limit > 200), limit };
    }
    case 'integer':
    case 'number':
      return { kind: 'number', whole: schema['type'] === 'integer' };
    case 'boolean':
      return { kind: 'boolean' };
    case 'object': {
      const members = Object.entries(asSchema(schema['properties'])).filter(
        ([, member]) => resolved(asSchema(member), root)['visibility'] !== 'internal',
      );
      const closed = schema['additionalProperties'] === false || members.length > 0;
      if (depth >= DEPTH_MAX || members.length > MEMBERS_MAX || !closed)
        return depth === 0 && members.length === 0 ? { kind: 'object', members: [] } : { kind: 'json' };
      const required = requiredOf(schema);
      return {
        kind: 'object',
        members: members.map(([key, member]) => memberOf(key, member, required.has(key), root, depth)),
      };
    }
    case 'array':
      if (depth >= DEPTH_MAX || schema['items'] === undefined) return { kind: 'json' };
      return {
        kind: 'list',
        item: fieldOf(schema['items'], root, name, depth + 1),
        max: typeof schema['maxItems'] === 'number' ? Math.min(schema['maxItems'], ITEMS_MAX) : ITEMS_MAX,
      };
    default:
      return { kind: 'json' };
  }
}

function memberOf(name: string, value: unknown, required: boolean, root: Schema, depth: number): Member {
  const schema = resolved(asSchema(value), root);
  const word = (key: 'title' | 'description') => (typeof schema[key] === 'string' ? schema[key] : '');
  return {
    name,
    title: word('title'),
    required,
    description: word('description'),
    field: fieldOf(schema, root, name, depth + 1),
  };
}

/** Returns the initial value of a field. */
export function emptyDraft(field: FormField, required = true): Draft {
  switch (field.kind) {
    case 'text':
    case 'number':
    case 'json':
      return '';
    case 'boolean':
      return required ? false : null;
    case 'choice':
      return required && field.options.length === 1 ? 0 : null;
    case 'object':
      // An optional object is not there until it is added.
      return required ? filled(field) : null;
    case 'list':
      return required ? [emptyDraft(field.item)] : [];
  }
}

/** An object with all its fields, each as it is at first. */
export function filled(field: Extract<FormField, { kind: 'object' }>): Draft {
  return Object.fromEntries(field.members.map((member) => [member.name, emptyDraft(member.field, member.required)]));
}

/** The draft for a value; none if the field cannot hold it. */
export function draftFrom(field: FormField, value: unknown, required = true): Draft | undefined {
  if (value === undefined) return emptyDraft(field, required);
  switch (field.kind) {
    case 'text':
      // A field of the page would turn a carriage return into a line's end without a word.
      return typeof value === 'string' && !value.includes('\r') ? value : undefined;
    case 'number':
      return typeof value === 'number' ? String(value) : undefined;
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'json':
      return JSON.stringify(value, null, 2);
    case 'choice': {
      const at = field.options.findIndex((option) => JSON.stringify(option) === JSON.stringify(value));
      return at < 0 ? undefined : at;
    }
    case 'object': {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
      const names = new Set(field.members.map((member) => member.name));
      if (Object.keys(value).some((name) => !names.has(name))) return undefined;
      const drafts = field.members.map(
        (member) =>
          [
            member.name,
            draftFrom(member.field, (value as Record<string, unknown>)[member.name], member.required),
          ] as const,
      );
      return drafts.some(([, draft]) => draft === undefined) ? undefined : (Object.fromEntries(drafts) as Draft);
    }
    case 'list': {
      if (!Array.isArray(value) || value.length > field.max) return undefined;
      const drafts = value.map((item) => draftFrom(field.item, item));
      return drafts.some((draft) => draft === undefined) ? undefined : (drafts as Draft[]);
    }
  }
}

/** Tells whether a field can hold a value so that the very same comes of it. */
export function holds(field: FormField, value: unknown): boolean {
  const draft = draftFrom(field, value);
  if (draft === undefined) return false;
  const come = valueOf(field, draft);
  return come.problems.length === 0 && alike(come.value, value);
}

/** Returns the value of a draft. An optional member left empty is left out; a required one stands, however empty. */
export function valueOf(field: FormField, draft: Draft, required = true, path = ''): Come {
  const wrong = (text: string): Come => ({ value: undefined, problems: [{ path, text }] });
  const left: Come = { value: undefined, problems: [] };
  const given = (value: unknown): Come => ({ value, problems: [] });
  switch (field.kind) {
    case 'text':
      return draft === '' && !required ? left : given(draft);
    case 'number': {
      const text = String(draft).trim();
      if (text === '') return required ? wrong('Write a number.') : left;
      const number = Number(text);
      if (!Number.isFinite(number)) return wrong('This is not a number.');
      return field.whole && !Number.isInteger(number) ? wrong('This is not a whole number.') : given(number);
    }
    case 'boolean':
      return draft === null ? left : given(draft);
    case 'choice':
      if (draft === null) return required ? wrong('Choose one.') : left;
      return given(field.options[draft as number]);
    case 'json': {
      const text = String(draft).trim();
      if (text === '') return required ? wrong('Write a value as JSON.') : left;
      try {
        return given(JSON.parse(text));
      } catch (thrown) {
        return wrong(`This is not JSON. ${thrown instanceof Error ? thrown.message : ''}`.trim());
      }
    }
    case 'object': {
      if (draft === null) return left;
      const drafts = draft as Record<string, Draft>;
      const parts = field.members.map(
        (member) =>
          [
            member.name,
            valueOf(
              member.field,
              drafts[member.name] ?? emptyDraft(member.field, member.required),
              member.required,
              path === '' ? member.name : `${path}.${member.name}`,
            ),
          ] as const,
      );
      const members = parts.filter(([, come]) => come.value !== undefined);
      return {
        value: Object.fromEntries(members.map(([name, come]) => [name, come.value])),
        problems: parts.flatMap(([, come]) => come.problems),
      };
    }
    case 'list': {
      const parts = (draft as Draft[]).map((item, i) => valueOf(field.item, item, true, `${path}[${i}]`));
      if (!required && parts.length === 0) return left;
      return { value: parts.map((come) => come.value), problems: parts.flatMap((come) => come.problems) };
    }
  }
}
