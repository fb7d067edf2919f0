// Language servers as the person sets them up: the shown ones, the problems of the typed text, and the saved settings.
// Pure.

import type { LanguageServer, LanguageServerView } from '../../ipc/bindings';

/** Text in the fields for one of the person's own servers. */
export interface Draft {
  command: string;
  args: string;
  endings: string;
  language: string;
}

/** Problem of each field. */
export type Problems = Partial<Record<keyof Draft, string>>;

/** Whether a server is worth a line at once: it is on, one of the person's own, or its program is there. */
const isNear = (view: LanguageServerView): boolean => view.settings.enabled || view.own || view.found !== null;

/** Returns the servers that are shown at once, and how many more are offered. */
export function shownOf(
  views: readonly LanguageServerView[],
  all: boolean,
): { shown: LanguageServerView[]; more: number } {
  const near = views.filter(isNear);
  return {
    shown: all ? [...near, ...views.filter((view) => !isNear(view))] : near,
    more: all ? 0 : views.length - near.length,
  };
}

/** Returns the note below a server's name. */
export function noteOf({ settings, language, found, runs }: LanguageServerView): string {
  const where = found ?? `${settings.command} was not found`;
  return settings.enabled && found !== null ? `${language} · ${where} · ${runs}` : `${language} · ${where}`;
}

/** Returns the servers with this one switched on or off. One that is only offered is not kept while it is off. */
export function switched(
  servers: readonly LanguageServer[],
  view: LanguageServerView,
  enabled: boolean,
): LanguageServer[] {
  const rest = servers.filter((one) => one.id !== view.settings.id);
  const place = servers.findIndex((one) => one.id === view.settings.id);
  if (!enabled && !view.own) return rest;
  return rest.toSpliced(place === -1 ? rest.length : place, 0, { ...view.settings, enabled });
}

const words = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');
const endingsOf = (text: string): string[] => words(text).map((word) => word.replace(/^\*?\./, '').toLowerCase());
const nameOf = (command: string): string => command.trim().split(/[\\/]/).at(-1) ?? '';

/** Returns the problems of a draft. */
export function problemsOf(draft: Draft): Problems {
  const problems: Problems = {};
  const command = draft.command.trim();
  if (command === '') problems.command = 'Name its program, as it is on PATH, or its whole path.';
  else if (/[\\/]/.test(command) && !/^(\/|[A-Za-z]:[\\/])/.test(command))
    problems.command = 'A path has to be whole: what lies in a folder would be started.';
  const endings = endingsOf(draft.endings);
  if (endings.length === 0) problems.endings = 'Name at least one ending of its files, such as kt.';
  else if (endings.some((ending) => !/^[^.\\/*]+$/.test(ending)))
    problems.endings = 'Write endings like kt, kts, without dots within.';
  if (draft.language.trim() === '') problems.language = 'Name the language, such as kotlin.';
  return problems;
}

/** Builds the settings from fields that have no problem: on, since the person just set it up. */
export function settingsOf(draft: Draft, others: readonly string[]): LanguageServer {
  const plain =
    nameOf(draft.command)
      .toLowerCase()
      .replace(/\.(exe|cmd|bat)$/, '')
      .replace(/[^a-z0-9_-]+/g, '-') || 'server';
  let id = plain.slice(0, 60);
  for (let tail = 2; others.includes(id); tail += 1) id = `${plain.slice(0, 56)}-${tail}`;
  const language = draft.language.trim();
  return {
    id,
    enabled: true,
    command: draft.command.trim(),
    args: draft.args.split(/\s+/).filter((arg) => arg !== ''),
    files: Object.fromEntries(endingsOf(draft.endings).map((ending) => [ending, language])),
  };
}
