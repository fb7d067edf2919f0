// Tools in words: the origin of each, its requirements, and the problems of a file of tools. Pure.

import { msg } from '../../widgets/msg';
import type { ArgPattern, RequirementSet, ToolMode, ToolOrigin, ToolView, UserError } from '../../ipc/bindings';
import type { IconName } from '../../widgets/icons';

/** Tools of one origin. */
export interface Group {
  title: string;
  note: string;
  tools: readonly ToolView[];
}

const ORIGINS = ['built_in', 'file', 'foreign', 'unknown'] as const satisfies readonly ToolOrigin['type'][];
const groups: Record<ToolOrigin['type'], { title: string; note: string }> = {
  built_in: { title: 'Built in', note: 'of the app itself' },
  file: { title: 'From files', note: 'yours, and those of this folder' },
  foreign: { title: 'From elsewhere', note: 'servers and documents' },
  unknown: { title: 'Of unknown origin', note: 'nobody said where they come from' },
};

/** The tools that hold every word, grouped by where they come from. */
export function grouped(tools: readonly ToolView[], filter: string): Group[] {
  const wanted = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = tools.filter((tool) => wanted.every((word) => textOf(tool).includes(word)));
  return ORIGINS.map((origin) => ({
    ...groups[origin],
    tools: shown.filter((tool) => tool.record.origin.type === origin),
  })).filter((group) => group.tools.length > 0);
}

function textOf({ record, mode, kind, enabled, setup }: ToolView): string {
  const { identity, discovery, origin } = record;
  const marks = [
    enabled ? '' : msg('off'),
    setup === null ? '' : 'needs setup',
    isDeferred({ record }) ? msg('deferred') : '',
  ];
  const place = origin.type === 'file' ? origin.path : origin.type === 'foreign' ? origin.source : '';
  return [
    identity.tool_id,
    identity.user_facing_name,
    ...identity.aliases.map((alias) => alias.name),
    discovery.description,
    discovery.search_hint,
    mode?.replace('_', ' '),
    kind,
    place,
    ...marks,
  ]
    .join(' ')
    .toLowerCase();
}

/** Tells whether a model finds the tool only when it searches for it. */
export function isDeferred({ record }: Pick<ToolView, 'record'>): boolean {
  return record.discovery.should_defer && !record.discovery.always_load;
}

/** Returns the icon of a tool, as its calls have it: by its kind, or by its preview where that is more specific. */
export function toolIcon({ record, kind }: Pick<ToolView, 'record' | 'kind'>): IconName {
  const shows: Record<string, IconName> = {
    question: 'question',
    todo: 'todo',
    plan: 'todo',
    plan_exit: 'todo',
    task: 'task',
  };
  return record.origin.type === 'built_in' ? (shows[record.identity.tool_id] ?? kind) : kind;
}

/** The first sentence of a description. */
export function summary(tool: ToolView): string {
  const text = tool.record.discovery.description.trim().replace(/\s+/g, ' ');
  return /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text;
}

/** Describes the origin of a tool, with the path or name to be shown letter for letter. */
export function originWords(origin: ToolOrigin): { text: string; code: string } {
  switch (origin.type) {
    case 'built_in':
      return { text: 'Built in', code: '' };
    case 'file':
      return {
        text: /^([/\\]|[A-Za-z]:)/.test(origin.path) ? 'Your own file' : 'A file of the folder',
        code: origin.path,
      };
    case 'foreign':
      return { text: 'Elsewhere', code: origin.source };
    case 'unknown':
      return { text: 'Nobody said', code: '' };
  }
}

/** One line of a tool's requirements. */
interface Need {
  icon: IconName;
  text: string;
  codes: readonly string[];
}

/** Returns a tool's requirements in words; empty if there are none. */
export function needs(requires: RequirementSet): Need[] {
  const out: Need[] = [];
  const add = (icon: IconName, all: string, some: string, patterns: readonly string[] | undefined, any: string) => {
    if (!patterns || patterns.length === 0) return;
    const whole = patterns.length === 1 && patterns[0] === any;
    out.push({ icon, text: whole ? all : some, codes: whole ? [] : patterns });
  };
  add('read', 'Reads any file of the folder', 'Reads', requires.fs?.read, '**');
  add(
    'edit',
    'Creates, changes or removes any file of the folder',
    'Creates, changes or removes',
    requires.fs?.write,
    '**',
  );
  add('net', 'Reaches any host', 'Reaches', requires.net?.hosts, '*');
  const commands = requires.shell ?? [];
  const any = commands.some((command) => command.cmd === '*');
  if (commands.length > 0) {
    const lines = commands.map((command) => [command.cmd, ...argumentWords(command.args)].join(' '));
    out.push({ icon: 'execute', text: any ? 'Runs any command' : 'Runs commands', codes: any ? [] : lines });
  }
  add('shield', '', 'Needs', requires.capabilities, '');
  return out;
}

function argumentWords(args: readonly ArgPattern[] | null | undefined): string[] {
  if (args === null || args === undefined) return ['…'];
  return args.map((arg) => (typeof arg === 'string' ? arg : 'prefix' in arg ? `${arg.prefix}…` : '*'));
}

/** Describes what each mode means for a call to which no rule applies. */
export const modeMeans: Record<ToolMode, string> = {
  read: 'Runs by itself: it changes nothing',
  external: 'Leaves this machine, and is logged',
  safe_write: 'Runs by itself, and shows its diff',
  destructive: 'Runs once a copy for Undo was taken, else it asks',
  local: 'Asks each time',
};

/** Problem of a file of tools. */
export interface FileFault {
  file: string;
  line: number | null;
  reason: string;
  hint: string;
}

const FAULT = /^(.*?(?:^|[/\\])(?:tools|activities|delegates)[/\\][^:,]+?)(?:, line (\d+))?: (.+)$/s;

/** The faults that are about files of tools, taken apart. */
export function fileFaults(faults: readonly UserError[]): FileFault[] {
  return faults.flatMap((fault) => {
    const found = FAULT.exec(fault.message);
    if (!found) return [];
    return [
      {
        file: found[1] ?? '',
        line: found[2] === undefined ? null : Number(found[2]),
        reason: found[3] ?? '',
        hint: fault.hint,
      },
    ];
  });
}
