// The search field as a person edits it: filters that are whole become chips, the rest stays text.

/** The names of filters, in the order they are told. */
export const FILTERS = ['tool', 'mode', 'state', 'session', 'path', 'before', 'after'] as const;

/** A filter with its value. */
export interface Filter {
  name: string;
  value: string;
}

/** A query in two parts. */
export interface Parts {
  filters: readonly Filter[];
  text: string;
}

const FILTER = /(^|\s)([a-z]+):("[^"]*"|[^\s"]+)(?=\s|$)/g;
const names: ReadonlySet<string> = new Set(FILTERS);

/** Splits a query. What is no filter of ours stays text, so that it is searched for or refused by name. */
export function split(query: string): Parts {
  const filters: Filter[] = [];
  const text = query.replace(FILTER, (whole, _space: string, name: string, value: string) => {
    if (!names.has(name)) return whole;
    filters.push({ name, value: value.replaceAll('"', '') });
    return ' ';
  });
  return { filters, text: text.replace(/\s+/g, ' ').trim() };
}

/** Puts a query together again. */
export function join({ filters, text }: Parts): string {
  return [...filters.map(write), text].filter(Boolean).join(' ');
}

/** One filter as it is typed. */
export function write({ name, value }: Filter): string {
  return `${name}:${/\s/.test(value) ? `"${value}"` : value}`;
}

/** The query with a filter added, or taken away where it is there. */
export function toggle(parts: Parts, filter: Filter): Parts {
  const rest = parts.filters.filter((one) => one.name !== filter.name || one.value !== filter.value);
  return { ...parts, filters: rest.length < parts.filters.length ? rest : [...rest, filter] };
}
