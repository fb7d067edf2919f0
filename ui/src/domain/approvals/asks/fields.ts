// The form of a server while it is filled in: the value and the problem of each field, and the values that are sent.
// Pure.

import type { FieldKind, FormField, TextFormat } from '../../../ipc/bindings';
import { count, plural } from '../../../widgets/figures';

/** Value of a field: a text or number as it is typed, yes or no, or the chosen values. */
export type FieldValue = string | boolean | null | readonly string[];

/** Returns the initial value of a field. */
export function atFirst(kind: FieldKind): FieldValue {
  switch (kind.type) {
    case 'text':
      return kind.default ?? '';
    case 'number':
      return kind.default === null ? '' : String(kind.default);
    case 'boolean':
    case 'choice':
      return kind.default;
    case 'choices':
      return kind.default;
  }
}

const formats: Record<TextFormat, { like: string; fits: (text: string) => boolean }> = {
  email: { like: 'name@example.org', fits: (text) => /^[^\s@]+@[^\s@]+$/.test(text) },
  uri: { like: 'https://example.org/page', fits: (text) => URL.canParse(text) },
  date: { like: '2026-11-22', fits: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isDay(text) },
  date_time: {
    like: '2026-11-22T14:45:00Z',
    fits: (text) =>
      /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/i.test(text) &&
      isDay(text.slice(0, 10)) &&
      !Number.isNaN(Date.parse(text)),
  },
};
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** Describes the values that a field takes; empty if it takes any. */
export function wants(kind: FieldKind): string {
  switch (kind.type) {
    case 'text': {
      const length = bounds(kind.chars_min, kind.chars_max, (n) => plural(n, ['# character', '# characters']));
      return [kind.format ? `like ${formats[kind.format].like}` : '', length].filter(Boolean).join(', ');
    }
    case 'number':
      return [kind.integer ? 'a whole number' : 'a number', bounds(kind.min, kind.max, (n) => count(n))]
        .filter(Boolean)
        .join(', ');
    case 'boolean':
    case 'choice':
      return '';
    case 'choices':
      return bounds(kind.items_min, kind.items_max, (n) => String(n)) || 'any number';
  }
}
function bounds(least: number | null, most: number | null, say: (n: number) => string): string {
  if (least !== null && most !== null)
    return least === most ? `exactly ${say(least)}` : `${count(least)} to ${say(most)}`;
  if (least !== null && least > 0) return `at least ${say(least)}`;
  return most !== null ? `at most ${say(most)}` : '';
}

/** Whether nothing was filled in. */
function isEmpty(held: FieldValue): boolean {
  return held === null || held === '' || (Array.isArray(held) && held.length === 0);
}

/** Returns the problem of a field's value; empty if there is none. */
export function problemOf({ kind, required }: FormField, held: FieldValue): string {
  if (isEmpty(held))
    return required && !(kind.type === 'choices' && !kind.items_min)
      ? kind.type === 'text' || kind.type === 'number'
        ? 'Fill this in.'
        : 'Choose one.'
      : '';
  switch (kind.type) {
    case 'text': {
      const text = String(held);
      const length = [...text].length;
      if (kind.chars_min !== null && length < kind.chars_min)
        return `Write at least ${plural(kind.chars_min, ['# character', '# characters'])}; these are ${length}.`;
      if (kind.chars_max !== null && length > kind.chars_max)
        return `Write at most ${plural(kind.chars_max, ['# character', '# characters'])}; these are ${length}.`;
      return kind.format === null || formats[kind.format].fits(text)
        ? ''
        : `Write it like ${formats[kind.format].like}.`;
    }
    case 'number': {
      const value = numberOf(String(held));
      if (value === null) return 'This is not a number.';
      if (kind.integer && !Number.isSafeInteger(value)) return 'Write a whole number.';
      if (kind.min !== null && value < kind.min) return `Write at least ${count(kind.min)}.`;
      return kind.max !== null && value > kind.max ? `Write at most ${count(kind.max)}.` : '';
    }
    case 'boolean':
      return '';
    case 'choice':
      return kind.options.some((option) => option.value === held) ? '' : 'Choose one.';
    case 'choices': {
      const chosen = held as readonly string[];
      if (kind.items_min !== null && chosen.length < kind.items_min) return `Choose at least ${kind.items_min}.`;
      return kind.items_max !== null && chosen.length > kind.items_max ? `Choose at most ${kind.items_max}.` : '';
    }
  }
}
function numberOf(text: string): number | null {
  const trimmed = text.trim();
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) && Number.isFinite(Number(trimmed))
    ? Number(trimmed)
    : null;
}

/** Returns the values of a form that has no problem; values that were left out are absent. */
export function valuesOf(
  fields: readonly FormField[],
  held: Readonly<Record<string, FieldValue>>,
): Record<string, unknown> {
  const filled = fields.flatMap(({ name, kind, required }): [string, unknown][] => {
    const at = held[name] ?? null;
    if (isEmpty(at) && !(kind.type === 'choices' && required)) return [];
    return [[name, kind.type === 'number' ? numberOf(String(at)) : kind.type === 'choices' ? (at ?? []) : at]];
  });
  return Object.fromEntries(filled);
}
