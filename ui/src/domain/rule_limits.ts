// The limits of a rule in words, and a time as a person types it. Pure; times in milliseconds since 1970.

import { clock, date, exact } from '../widgets/figures';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How long something may hold, to choose from. */
export const spans = [
  { id: '', text: 'Until revoked' },
  { id: 'hour', text: 'For an hour' },
  { id: 'today', text: 'Until midnight' },
  { id: 'week', text: 'For 7 days' },
  { id: 'month', text: 'For 30 days' },
] as const;

/** When a span that begins now ends; none if it does not. */
export function endOf(id: string, now: number): number | null {
  const midnight = new Date(now);
  midnight.setHours(24, 0, 0, 0);
  const ends: Record<string, number> = {
    hour: now + HOUR_MS,
    today: midnight.getTime(),
    week: now + 7 * DAY_MS,
    month: now + 30 * DAY_MS,
  };
  return ends[id] ?? null;
}

/** "13:00" today, "14 Nov 13:00" on another day. */
export function moment(at: number, now: number): string {
  if (new Date(now).toDateString() === new Date(at).toDateString()) return clock(at);
  return `${date(at)} ${clock(at)}`;
}

/** The time of "13:00" (the next one) or "2026-12-01 13:00"; none if it is neither, or over. */
export function timeOf(text: string, now: number): number | null {
  const [, hours, minutes] = /^\s*(\d{1,2}):(\d{2})\s*$/.exec(text) ?? [];
  const [, year, month, day, hour, minute] =
    /^\s*(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{1,2}):(\d{2}))?\s*$/.exec(text) ?? [];
  if (hours !== undefined && minutes !== undefined && Number(hours) < 24 && Number(minutes) < 60) {
    const at = new Date(now);
    at.setHours(Number(hours), Number(minutes), 0, 0);
    if (at.getTime() <= now) at.setDate(at.getDate() + 1);
    return at.getTime();
  }
  if (year === undefined) return null;
  const at = new Date(Number(year), Number(month) - 1, Number(day), Number(hour ?? 0), Number(minute ?? 0));
  const real =
    at.getMonth() === Number(month) - 1 &&
    at.getDate() === Number(day) &&
    Number(hour ?? 0) < 24 &&
    Number(minute ?? 0) < 60;
  return real && at.getTime() > now ? at.getTime() : null;
}

/** A time as it is typed. */
export function typed(at: number): string {
  return exact(at).slice(0, 16);
}

/** How many uses were typed: none for no limit, `undefined` where it is no number of uses. */
export function usesOf(text: string): number | null | undefined {
  if (text.trim() === '') return null;
  const count = Number(text.trim());
  return /^\d{1,7}$/.test(text.trim()) && count >= 1 ? count : undefined;
}
