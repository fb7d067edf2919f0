// The commands that have keys: where each works, what it is called, and the keys that it has until the person changes them.

/** Commands that work everywhere in the window. */
export type WindowCommand =
  | 'palette'
  | 'settings'
  | 'search'
  | 'next_card'
  | 'previous_card'
  | 'inspector'
  | 'rail'
  | 'ask_again'
  | 'zoom_in'
  | 'zoom_out'
  | 'zoom_reset'
  | 'keys';
/** Commands of the open session. */
export type SessionCommand = 'find_in_session' | 'waiting_card' | 'next_error' | 'previous_message' | 'next_message';
/** Commands of the card that has the focus. */
export type CardCommand =
  | 'allow'
  | 'always'
  | 'reject'
  | 'never'
  | 'later'
  | 'edit'
  | 'dry_run'
  | 'network'
  | 'in_place'
  | 'layout'
  | 'details'
  | 'undo';

/** The commands of each place in which a key counts. */
export interface CommandsAt {
  window: WindowCommand;
  session: SessionCommand;
  card: CardCommand;
  message: 'plan_first';
  desktop: 'oldest_call';
}
/** A place in which a key counts. */
export type KeyPlace = keyof CommandsAt;
/** Id of a command, as the settings name it. */
export type CommandId = CommandsAt[KeyPlace];

/** A command with its keys. */
export interface KeyCommand {
  id: CommandId;
  place: KeyPlace;
  name: string;
  /** The same in a line of a list, where its name does not say all of it. */
  about?: string;
  /** The chords that it has at first, of which the first is shown; none for a command that has no key until it gets one. */
  keys: readonly string[];
  /** Whether it is there while something is written, where a character is text. */
  whileWriting?: true;
}

/** A key that stays as it is. */
export interface FixedKey {
  chord: string;
  name: string;
}

/** Commands and fixed keys that are shown together. */
export interface KeyGroup {
  name: string;
  commands: readonly KeyCommand[];
  fixed: readonly FixedKey[];
}

const everywhere: readonly KeyCommand[] = [
  { id: 'palette', place: 'window', name: 'Commands', keys: ['Ctrl+K'], whileWriting: true },
  { id: 'settings', place: 'window', name: 'Settings', keys: ['Ctrl+,'], whileWriting: true },
  { id: 'search', place: 'window', name: 'Search', keys: ['/'] },
  { id: 'next_card', place: 'window', name: 'Next card', keys: ['J'] },
  { id: 'previous_card', place: 'window', name: 'Previous card', keys: ['K'] },
  { id: 'inspector', place: 'window', name: 'Inspector', keys: ['I'] },
  {
    id: 'rail',
    place: 'window',
    name: 'Names of the rail',
    about: 'Names of the rail, in a narrow window',
    keys: ['Ctrl+B'],
    whileWriting: true,
  },
  { id: 'ask_again', place: 'window', name: 'Ask again', about: 'Ask again, where asks are skipped', keys: ['.'] },
  // `=` is the key of `+` without Shift.
  { id: 'zoom_in', place: 'window', name: 'Larger', keys: ['Ctrl++', 'Ctrl+='], whileWriting: true },
  { id: 'zoom_out', place: 'window', name: 'Smaller', keys: ['Ctrl+-'], whileWriting: true },
  { id: 'zoom_reset', place: 'window', name: 'Usual size', keys: ['Ctrl+0'], whileWriting: true },
  { id: 'keys', place: 'window', name: 'Keyboard shortcuts', keys: ['?'] },
];

const inSession: readonly KeyCommand[] = [
  {
    id: 'find_in_session',
    place: 'session',
    name: 'Find in the session',
    about: 'Find in it: Enter the next, Shift Enter the one before',
    keys: ['Ctrl+F'],
    whileWriting: true,
  },
  { id: 'waiting_card', place: 'session', name: 'Next card that waits', keys: ['C'] },
  { id: 'next_error', place: 'session', name: 'Next error', about: 'Next error, from the newest back', keys: ['X'] },
  { id: 'previous_message', place: 'session', name: 'Your previous message', keys: ['['] },
  { id: 'next_message', place: 'session', name: 'Your next message', keys: [']'] },
];

const onCard: readonly KeyCommand[] = [
  { id: 'allow', place: 'card', name: 'Allow', about: 'Allow once; hold where it cannot be undone', keys: ['Y'] },
  { id: 'always', place: 'card', name: 'Always…', about: 'Always…: allow such calls from now on', keys: ['A'] },
  { id: 'reject', place: 'card', name: 'Reject', keys: ['N'] },
  {
    id: 'never',
    place: 'card',
    name: 'Reject from now on…',
    about: 'Reject, and deny such calls from now on',
    keys: ['Shift+N'],
  },
  { id: 'later', place: 'card', name: 'Later', keys: ['L'] },
  { id: 'edit', place: 'card', name: 'Edit the arguments', keys: ['E'] },
  { id: 'dry_run', place: 'card', name: 'Dry run', about: 'Dry run a command', keys: ['P'] },
  { id: 'network', place: 'card', name: 'Run with the network…', about: 'Run a command with the network', keys: ['W'] },
  { id: 'in_place', place: 'card', name: 'Run in place…', about: 'Run a command in place, for real', keys: ['R'] },
  { id: 'layout', place: 'card', name: 'Diff: unified or split', keys: ['D'] },
  { id: 'details', place: 'card', name: 'Details', keys: ['O'] },
  { id: 'undo', place: 'card', name: 'Undo', keys: ['U'] },
];

const inMessage: readonly KeyCommand[] = [
  {
    id: 'plan_first',
    place: 'message',
    name: 'Plan first',
    about: 'Plan first, or end the planning',
    keys: ['Alt+P'],
    whileWriting: true,
  },
];

const onDesktop: readonly KeyCommand[] = [
  {
    id: 'oldest_call',
    place: 'desktop',
    name: 'Show the oldest waiting call',
    keys: [],
  },
];

/** The commands that work in the window, with the keys that stay as they are, in the order of the help. */
export const keyGroups: readonly KeyGroup[] = [
  {
    name: 'Everywhere',
    commands: everywhere,
    fixed: [{ chord: 'Escape', name: 'Close what lies on top; from a field back to its card' }],
  },
  { name: 'In a session', commands: inSession, fixed: [] },
  {
    name: 'On the card that has the focus',
    commands: onCard,
    fixed: [{ chord: 'Tab', name: 'To the hunks, the note and the answers' }],
  },
  {
    name: 'In the lists of tools, servers and services',
    commands: [],
    fixed: [
      { chord: 'ArrowDown', name: 'Next; from the filter to the first' },
      { chord: 'ArrowUp', name: 'Previous; from the first to the filter' },
      { chord: 'Enter', name: 'Look at it' },
    ],
  },
  {
    name: 'In the message box',
    commands: inMessage,
    fixed: [
      { chord: 'Enter', name: 'Send' },
      { chord: 'Shift+Enter', name: 'New line' },
    ],
  },
];

/** The commands that work from other programs. */
export const desktopGroup: KeyGroup = { name: 'From the rest of your desktop', commands: onDesktop, fixed: [] };

/** Every command that has a key or can have one. */
export const keyCommands: readonly KeyCommand[] = [...keyGroups, desktopGroup].flatMap(({ commands }) => commands);

const byId: ReadonlyMap<string, KeyCommand> = new Map(keyCommands.map((command) => [command.id, command]));

/** The command with an id; none if nothing is called so. */
export const findCommand = (id: string): KeyCommand | undefined => byId.get(id);

/** Tells whether a key press can reach the commands of both places at once. On a card no message is written. */
export function overlap(one: KeyPlace, other: KeyPlace): boolean {
  const both = [one, other];
  return !(both.includes('card') && both.includes('message'));
}
