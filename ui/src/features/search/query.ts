// The search field as a person edits it: complete filters become chips, the rest stays text.

/** The names of filters, in display order. */
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

/** Splits a query. Text that is no filter of ours stays text, so that it is searched for or refused by name. */
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

/** A stretch of time to narrow a search down to. */
export interface Span {
  id: 'today' | 'week' | 'month' | 'older';
  text: string;
  filter: Filter;
}

/** The stretches, nearest first. The day is the person's own. */
export function spans(now: number): readonly Span[] {
  const date = new Date(now);
  const two = (value: number) => String(value).padStart(2, '0');
  const today = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return [
    { id: 'today', text: 'Today', filter: { name: 'after', value: today } },
    { id: 'week', text: 'The last 7 days', filter: { name: 'after', value: '7d' } },
    { id: 'month', text: 'The last 30 days', filter: { name: 'after', value: '30d' } },
    { id: 'older', text: 'Older', filter: { name: 'before', value: '30d' } },
  ];
}

/** The filters with one stretch of time chosen instead of any other; taken away where it is the one that is there. */
export function within(filters: readonly Filter[], span: Filter): readonly Filter[] {
  const rest = filters.filter((one) => one.name !== 'before' && one.name !== 'after');
  const there = filters.some((one) => write(one) === write(span));
  return there ? rest : [...rest, span];
}
