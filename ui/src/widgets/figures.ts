// Figures and times as people write them; the exact value goes into a tooltip.

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** How long ago, briefly: "42 s", "6 min", "3 h", "Tue", "3 Nov". Both times in milliseconds since 1970. */
export function age(at: number, now: number): string {
  const ms = Math.max(0, now - at);
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  if (ms < 6 * DAY_MS) return WEEKDAYS[new Date(at).getDay()] ?? '';
  return date(at);
}

/** "3 Nov". */
export function date(at: number): string {
  const day = new Date(at);
  return `${day.getDate()} ${MONTHS[day.getMonth()]}`;
}

/** How long something took: "4 ms", "8.4 s", "3 min 20 s". */
export function duration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND_MS) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ${Math.floor((ms % MINUTE_MS) / SECOND_MS)} s`;
  return `${Math.floor(ms / HOUR_MS)} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`;
}

/** "11:41". */
export function clock(at: number): string {
  const date = new Date(at);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** The day in words and the time: "today 10:22", "Tue 16:02", "14 Nov". */
export function when(at: number, now: number): string {
  const then = new Date(at);
  if (new Date(now).toDateString() === then.toDateString()) return `today ${clock(at)}`;
  return now - at < 6 * DAY_MS ? `${WEEKDAYS[then.getDay()]} ${clock(at)}` : date(at);
}

/** "today", "Tue", "3 Nov". */
export function day(at: number, now: number): string {
  const date = new Date(at);
  if (new Date(now).toDateString() === date.toDateString()) return 'today';
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
  if (count < 1_000) return `${count} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = count / 1_000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)} ${units[unit]}`;
}

/** A large count, briefly: "930", "18.2 k", "1.4 M". */
export function brief(count: number): string {
  if (count < 1_000) return `${count}`;
  if (count < 999_950) return `${(count / 1_000).toFixed(1)} k`;
  return `${(count / 1_000_000).toFixed(1)} M`;
}

/** A count with its thousands: "18,402". */
export function count(value: number): string {
  return value.toLocaleString('en-GB');
}

/** "1 file", "25 files". */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
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
