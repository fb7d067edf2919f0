// Figures and times as people write them; the exact value goes into a tooltip.

import { isolate } from '../locales/isolate';
import { figuresLanguage } from '../locales/language.svelte';
import { runsFromRight } from '../locales/main.loader.svelte';
import { msg } from './msg';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Makes what writes figures, dates and lists in a language. */
const makeWriters = (language: string) => ({
  count: new Intl.NumberFormat(language),
  tenths: new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 }),
  tenthsIfAny: new Intl.NumberFormat(language, { maximumFractionDigits: 1 }),
  weekday: new Intl.DateTimeFormat(language, { weekday: 'short' }),
  date: new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short' }),
  list: new Intl.ListFormat(language),
  either: new Intl.ListFormat(language, { type: 'disjunction' }),
});
/** Made once for each language: making them takes longer than writing. */
const writers = new Map<string, ReturnType<typeof makeWriters>>();

/** Returns what writes in the language that is shown. */
function writer(): ReturnType<typeof makeWriters> {
  const language = figuresLanguage();
  const made = writers.get(language) ?? makeWriters(language);
  writers.set(language, made);
  return made;
}

/** What is no sentence of the language, such as a name or a unit, keeps its own direction. */
const inOwnDirection = (text: string): string => (runsFromRight() ? isolate(text) : text);

/** How long ago, briefly: "42 s", "6 min", "3 h", "Tue", "3 Nov". Both times in milliseconds since 1970. */
export function age(at: number, now: number): string {
  const ms = Math.max(0, now - at);
  if (ms < MINUTE_MS) return msg(`${Math.floor(ms / SECOND_MS)} s`);
  if (ms < HOUR_MS) return msg(`${Math.floor(ms / MINUTE_MS)} min`);
  if (ms < DAY_MS) return msg(`${Math.floor(ms / HOUR_MS)} h`);
  if (ms < 6 * DAY_MS) return writer().weekday.format(at);
  return date(at);
}

/** "3 Nov". */
export function date(at: number): string {
  return writer().date.format(at);
}

/** How long something took: "4 ms", "8.4 s", "3 min 20 s". */
export function duration(ms: number): string {
  if (ms < SECOND_MS) return msg(`${Math.round(ms)} ms`);
  if (ms < 10 * SECOND_MS) return msg(`${writer().tenths.format(Math.floor(ms / 100) / 10)} s`);
  if (ms < MINUTE_MS) return msg(`${Math.floor(ms / SECOND_MS)} s`);
  if (ms < HOUR_MS) return msg(`${Math.floor(ms / MINUTE_MS)} min ${Math.floor((ms % MINUTE_MS) / SECOND_MS)} s`);
  return msg(`${Math.floor(ms / HOUR_MS)} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`);
}

/** How long something may take, without parts that are nothing: "5 s", "1.5 s", "2 min", "3 min 20 s". */
export function briefDuration(ms: number): string {
  if (ms >= SECOND_MS && ms < 10 * SECOND_MS) return msg(`${writer().tenthsIfAny.format(Math.floor(ms / 100) / 10)} s`);
  if (ms >= HOUR_MS && ms % HOUR_MS < MINUTE_MS) return msg(`${Math.floor(ms / HOUR_MS)} h`);
  if (ms >= MINUTE_MS && ms < HOUR_MS && ms % MINUTE_MS < SECOND_MS) return msg(`${Math.floor(ms / MINUTE_MS)} min`);
  return duration(ms);
}

/** "11:41". */
export function clock(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

const isSameDay = (one: number, other: number): boolean =>
  new Date(one).toDateString() === new Date(other).toDateString();

/** The day in words and the time: "today 10:22", "Tue 16:02", "14 Nov". */
export function when(at: number, now: number): string {
  return isSameDay(at, now) ? msg(`today ${clock(at)}`) : briefWhen(at, now);
}

/** The same where today goes without saying: "10:22", "Tue 16:02", "14 Nov". */
export function briefWhen(at: number, now: number): string {
  if (isSameDay(at, now)) return clock(at);
  return now - at < 6 * DAY_MS ? `${writer().weekday.format(at)} ${clock(at)}` : date(at);
}

/** "today", "Tue", "3 Nov". */
export function day(at: number, now: number): string {
  if (isSameDay(at, now)) return msg('today');
  return age(Math.min(at, now - DAY_MS), now);
}

/** The exact time, for a tooltip. */
export function exact(at: number): string {
  const date = new Date(at);
  const days = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${days} ${clock(at)}:${two(date.getSeconds())}`;
}

/** A length: "812 B", "6.8 kB", "3.1 MB". */
export function bytes(count: number): string {
  if (count < 1_000) return inOwnDirection(`${count} B`);
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = count / 1_000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return inOwnDirection(`${writer().tenthsIfAny.format(value < 10 ? value : Math.round(value))} ${units[unit]}`);
}

/** A large count, briefly: "930", "18.2 k", "1.4 M". */
export function brief(count: number): string {
  if (count < 1_000) return `${count}`;
  if (count < 999_950) return msg(`${writer().tenths.format(count / 1_000)} k`);
  return msg(`${writer().tenths.format(count / 1_000_000)} M`);
}

/** A count with its thousands: "18,402". */
export function count(value: number): string {
  return writer().count.format(value);
}

/** Tells which form of a noun a number takes. */
type FormOf = (value: number) => number;
const englishForm: FormOf = (value) => (value === 1 ? 0 : 1);

/**
 * "1 file", "25 files", of the forms `['# file', '# files']`. The build puts the forms of the chosen language in
 * place of these, and what tells which one a number takes.
 */
export function plural(value: number, forms: readonly string[], formOf: FormOf = englishForm): string {
  return (forms[formOf(value)] ?? forms.at(-1) ?? '').replace('#', count(value));
}

/** "a, b and c". */
export function list(parts: readonly string[]): string {
  return writer().list.format(parts.map(inOwnDirection));
}

/** "a, b or c". */
export function either(parts: readonly string[]): string {
  return writer().either.format(parts.map(inOwnDirection));
}

/** A path below the home folder, written with `~`. */
export function fromHome(path: string, home: string): string {
  if (home && path === home) return '~';
  return home && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** The last part of a path. */
export function baseName(path: string): string {
  const parts = path.split(/[\\/]/).filter(Boolean);
  return parts.at(-1) ?? path;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
