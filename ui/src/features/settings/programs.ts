// Programs around calls as the person sets them up, watchdogs and hooks: the problems of the typed text, and the saved
// settings. Pure.

import type { HookPoint, HookSettings, WatchdogSettings } from '../../ipc/bindings';
import { list } from '../../widgets/figures';

/** Text in the fields of a new program. */
export interface Draft {
  name: string;
  program: string;
  timeout: string;
  /** When a hook is started; a watchdog has no choice. */
  on: readonly HookPoint[];
}

/** Problem of each field. */
export type Problems = Partial<Record<keyof Draft, string>>;

/** The bounds of the engine (crates/agent/src/limits.rs). */
export const PROGRAMS_MAX = 16;
const TIMEOUT_MS_MAX = 30_000;

/** Every point at which a hook may be started, in their order. */
export const points: readonly { point: HookPoint; text: string; hint: string }[] = [
  { point: 'before', text: 'Before a call', hint: 'It may keep the call from running' },
  { point: 'before_update', text: 'Before live output is shown', hint: 'It may keep that back' },
  { point: 'after_update', text: 'After live output was shown', hint: 'It is told' },
  { point: 'after', text: 'After a call', hint: 'It is told how the call ended, and what the agent reads of it' },
];
/** The points within a line. */
const pointWords: Record<HookPoint, string> = {
  before: 'before a call',
  before_update: 'before live output is shown',
  after_update: 'after live output was shown',
  after: 'after a call',
};

/** Fields before anything is typed. */
export const blank: Draft = { name: '', program: '', timeout: '5000', on: ['before'] };

/** The points with this one among them or not, in their order. */
export function withPoint(on: readonly HookPoint[], point: HookPoint, into: boolean): HookPoint[] {
  return points.map((one) => one.point).filter((one) => (one === point ? into : on.includes(one)));
}

/** Returns the problems of a new program beside the existing ones. */
export function problemsOf(draft: Draft, others: readonly { name: string }[], hooks: boolean): Problems {
  const problems: Problems = {};
  const name = draft.name.trim();
  if (name === '') problems.name = 'Give it a name: its reasons are told under it.';
  else if (others.some((one) => one.name === name)) problems.name = 'Another one has this name.';
  if (!/^(\/|[A-Za-z]:[\\/])./.test(draft.program.trim())) problems.program = 'Name its file by its whole path.';
  const timeout = Number(draft.timeout.trim());
  if (draft.timeout.trim() === '' || !Number.isInteger(timeout) || timeout < 1 || timeout > TIMEOUT_MS_MAX)
    problems.timeout = 'Write whole milliseconds, from 1 to 30,000.';
  if (hooks && draft.on.length === 0) problems.on = 'Choose at least one.';
  return problems;
}

/** Builds the settings from fields that have no problem. */
export function watchdogOf(draft: Draft): WatchdogSettings {
  return { name: draft.name.trim(), program: draft.program.trim(), timeout_ms: Number(draft.timeout.trim()) };
}

/** The same of a hook. */
export function hookOf(draft: Draft): HookSettings {
  return { ...watchdogOf(draft), on: [...draft.on] };
}

/** When a hook is started, in a line. */
export function whenWords(on: readonly HookPoint[]): string {
  const words = points.filter(({ point }) => on.includes(point)).map(({ point }) => pointWords[point]);
  return words.length === 0 ? 'never started' : list(words);
}
