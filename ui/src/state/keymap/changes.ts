// What changes in the settings when a command is given other keys. Pure.

import { comparable } from '../../widgets/chord';
import { keyCommands, type KeyCommand } from './commands';
import { Keymap, toDesktop, type KeySettings } from './keymap';

/** The settings in which a command has a chord, or no key for an empty one, and no other command has that chord at the same place. */
export function withKey(settings: KeySettings, command: KeyCommand, chord: string): KeySettings {
  const keymap = new Keymap(settings);
  const others = chord === '' ? [] : keymap.conflictsOf(command, chord);
  const freed = others.reduce((changed, other) => {
    const [left = ''] = keymap.keysOf(other.id).filter((own) => comparable(own) !== comparable(chord));
    return put(changed, other, left);
  }, settings);
  return put(freed, command, chord);
}

/** The settings in which a command has its first keys again, and no other command has them at the same place. */
export function withFirstKeys(settings: KeySettings, command: KeyCommand): KeySettings {
  const freed = command.keys.reduce((changed, chord) => withKey(changed, command, chord), settings);
  return without(freed, command.id);
}

/** The settings in which every command has its first keys. */
export function withAllFirstKeys(settings: KeySettings): KeySettings {
  return { ...without(settings, 'oldest_call'), keys: {} };
}

/** The settings without the line of a command, or of a name that is no command. */
export function without({ keys, desktop }: KeySettings, id: string): KeySettings {
  const { [id]: _, ...others } = keys ?? {};
  return { keys: others, desktop: id === 'oldest_call' ? withoutShortcut(desktop) : desktop };
}

function withoutShortcut(desktop: KeySettings['desktop']): KeySettings['desktop'] {
  if (desktop === undefined) return undefined;
  const { shortcut: _, ...others } = desktop;
  return others;
}

function put(settings: KeySettings, command: KeyCommand, chord: string): KeySettings {
  const rest = without(settings, command.id);
  const isFirst = chord === (command.keys[0] ?? '');
  if (isFirst) return rest;
  if (command.place !== 'desktop') return { ...rest, keys: { ...rest.keys, [command.id]: chord } };
  return { ...rest, desktop: { start_at_login: false, ...rest.desktop, shortcut: toDesktop(chord) } };
}

/** Tells whether any command has other keys than at first, or a line of the settings gives none. */
export function hasChanges(keymap: Keymap): boolean {
  return keymap.problems.length > 0 || keyCommands.some(({ id }) => keymap.isChanged(id));
}
