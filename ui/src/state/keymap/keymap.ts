// The keys that the commands have now: their first ones, and what the settings change of them. Pure.

import type { Settings } from '../../ipc/bindings';
import { chordOf, comparable, readChord, type KeyPress } from '../../widgets/chord';
import {
  findCommand,
  keyCommands,
  overlap,
  type CommandId,
  type CommandsAt,
  type KeyCommand,
  type KeyPlace,
} from './commands';
import { refuseChord } from './refusals';

/** A line of the settings that gives no command a key. */
export interface KeyProblem {
  /** The name of the command, as the settings have it. */
  id: string;
  /** The keys, as the settings have them. */
  keys: string;
  /** The problem in a sentence. */
  text: string;
}

/** The settings that keys are made of. */
export type KeySettings = Pick<Settings, 'keys' | 'desktop'>;

/** The command that has its key in the settings of the desktop. */
const DESKTOP: CommandsAt['desktop'] = 'oldest_call';

/** A shortcut of the desktop as a chord: the settings call its key Super. */
export const fromDesktop = (shortcut: string): string => shortcut.replace(/\bSuper\+/, 'Meta+');
/** A chord as a shortcut of the desktop. */
export const toDesktop = (chord: string): string => chord.replace(/\bMeta\+/, 'Super+');

export class Keymap {
  readonly #keys = new Map<CommandId, readonly string[]>();
  readonly #changed = new Set<CommandId>();
  /** What the settings say of keys and is ignored. */
  readonly problems: readonly KeyProblem[];

  constructor(settings: KeySettings) {
    const { given, problems } = readChanges(settings);
    const kept = given.filter((one) => !given.some((other) => other !== one && clash(one, other)));
    for (const { command, chord } of kept) {
      this.#changed.add(command.id);
      this.#keys.set(command.id, chord === '' ? [] : [chord]);
    }
    // What was given to a command is no longer a key of the command that had it at first.
    for (const command of keyCommands) {
      if (this.#changed.has(command.id)) continue;
      const free = command.keys.filter((chord) => !kept.some((one) => clash(one, { command, chord })));
      this.#keys.set(command.id, free);
    }
    this.problems = [...problems, ...given.filter((one) => !kept.includes(one)).map(describeShared)];
  }

  /** The chords of a command; the first is the one that is shown. */
  keysOf(id: CommandId): readonly string[] {
    return this.#keys.get(id) ?? [];
  }
  /** The chord that is shown for a command; none if it has no key. */
  keyOf(id: CommandId): string | undefined {
    return this.keysOf(id)[0];
  }
  /** Tells whether the settings give a command other keys than it has at first. */
  isChanged(id: CommandId): boolean {
    return this.#changed.has(id);
  }

  /** Returns the command that a key press means in these places; null if it means none there. */
  resolve<P extends KeyPlace>(press: KeyPress, ...places: readonly P[]): CommandsAt[P] | null {
    const chord = chordOf(press);
    if (chord === null) return null;
    const found = keyCommands.find(
      ({ id, place }) => (places as readonly KeyPlace[]).includes(place) && this.#has(id, chord),
    );
    return (found?.id as CommandsAt[P] | undefined) ?? null;
  }

  /** Returns the other commands that a chord means where a command works. */
  conflictsOf(command: KeyCommand, chord: string): KeyCommand[] {
    return keyCommands.filter(
      (other) => other.id !== command.id && overlap(other.place, command.place) && this.#has(other.id, chord),
    );
  }

  #has(id: CommandId, chord: string): boolean {
    return this.keysOf(id).some((own) => comparable(own) === comparable(chord));
  }
}

/** A chord for a command; empty for no key. */
interface Given {
  command: KeyCommand;
  chord: string;
}

/** Tells whether one key press would mean both commands. */
function clash(one: Given, other: Given): boolean {
  if (one.chord === '' || other.chord === '') return false;
  return comparable(one.chord) === comparable(other.chord) && overlap(one.command.place, other.command.place);
}

/** A line of the settings; no command if nothing is called so. */
interface Line {
  id: string;
  keys: string;
  command: KeyCommand | undefined;
}

function linesOf({ keys = {}, desktop }: KeySettings): Line[] {
  const lines = Object.entries(keys).map(([id, written = '']): Line => {
    const command = findCommand(id);
    return { id, keys: written, command: command?.place === 'desktop' ? undefined : command };
  });
  if (desktop?.shortcut === undefined) return lines;
  const command = findCommand(DESKTOP);
  return [...lines, { id: DESKTOP, keys: fromDesktop(desktop.shortcut), command }];
}

function readChanges(settings: KeySettings): { given: Given[]; problems: KeyProblem[] } {
  const given: Given[] = [];
  const problems: KeyProblem[] = [];
  for (const { id, keys, command } of linesOf(settings)) {
    const chord = keys === '' ? '' : readChord(keys);
    if (!command) problems.push({ id, keys, text: `“${id}” is no command.` });
    else if (chord === null)
      problems.push({ id, keys, text: `${command.name}: “${keys}” is no key. Write it like Ctrl+Shift+F.` });
    else {
      const refusal = chord === '' ? null : refuseChord(command, chord);
      if (refusal === null) given.push({ command, chord });
      else problems.push({ id, keys, text: `${command.name}, “${keys}”: ${refusal}` });
    }
  }
  return { given, problems };
}

function describeShared({ command, chord }: Given): KeyProblem {
  const text = `${command.name}: another command was given “${chord}” as well. Both keep their usual keys.`;
  return { id: command.id, keys: chord, text };
}
