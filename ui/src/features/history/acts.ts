// The acts of the history in words, with a person's choices where a path changed since. Pure.

import { msg } from '../../widgets/msg';
import type {
  CollectionReceipt,
  Conflict,
  ConflictChoice,
  PathChange,
  PathChoice,
  PathReceipt,
  RestoreRequest,
  UndoEntry,
} from '../../ipc/bindings';
import { bytes, count, plural } from '../../widgets/figures';

/** Something that can be asked: one entry, several, or everything after one. */
export interface Asked {
  restore: RestoreRequest;
  /** Title of the entry or entries that the act is about. */
  title: string;
}

/** Tells whether an act is a redo; any other one undoes. */
export const isRedo = ({ restore }: Asked): boolean => restore.type === 'redo';

/** Tells how many changes can be undone, and how many are undone already. */
export function coverWords(applied: number, undone: number, more: boolean): string {
  const changes = plural(applied, ['# change', '# changes']);
  const can = more ? `${changes} and more can be undone` : `${changes} can be undone`;
  return undone > 0 ? msg(`${can}, ${count(undone)} undone.`) : `${can}.`;
}

/** Returns the act on one entry: undo or redo. */
export function askOne(entry: UndoEntry): Asked {
  if (entry.state === 'undone' && entry.action === undefined)
    return { restore: { type: 'redo', entry: entry.id }, title: entry.title };
  return { restore: { type: 'undo', entries: [entry.id] }, title: entry.title };
}

/** Returns the act that undoes several entries together. */
export function askSeveral(entries: readonly UndoEntry[]): Asked {
  return {
    restore: { type: 'undo', entries: entries.map(({ id }) => id) },
    title: plural(entries.length, ['# change', '# changes']),
  };
}

/** Everything after an entry goes back. */
export function askBackTo(entry: UndoEntry): Asked {
  return { restore: { type: 'undo_to', entry: entry.id }, title: `Everything after “${entry.title}”` };
}

/** Tells whether an entry can be undone together with others: those of one folder can. */
export function canJoin(entry: UndoEntry, others: readonly UndoEntry[] = []): boolean {
  return entry.state === 'applied' && others.every(({ workspace }) => workspace === entry.workspace);
}

/** Words for the choices about a path that changed since. */
export const choiceWords: Record<ConflictChoice, { text: string; hint: string }> = {
  keep: { text: 'Keep mine', hint: 'Leave this path out' },
  merge: { text: 'Merge', hint: 'Both changes, where they do not touch' },
  restore: { text: 'Restore', hint: 'What is there now goes; a copy is kept' },
};

/** The choices in the order in which they are shown, the least destructive first. */
export const CHOICES: readonly ConflictChoice[] = ['keep', 'merge', 'restore'];

/** The person's words on every conflict; none while one is missing. */
export function chosenFor(
  conflicts: readonly Conflict[],
  said: ReadonlyMap<string, ConflictChoice>,
): PathChoice[] | null {
  const all = conflicts.flatMap(({ path, choices }) => {
    const choice = said.get(path);
    return choice !== undefined && choices.includes(choice) ? [{ path, choice }] : [];
  });
  return all.length === conflicts.length ? all : null;
}

const changes: Record<PathChange, { sign: string; word: string }> = {
  created: { sign: 'A', word: 'brought back' },
  restored: { sign: 'M', word: msg('restored') },
  removed: { sign: 'D', word: msg('removed') },
  merged: { sign: 'M', word: msg('merged') },
  kept: { sign: '·', word: 'kept as it is' },
};

/** Returns the sign and the word for the change of a path. */
export const changeOf = ({ change }: PathReceipt): { sign: string; word: string } => changes[change];

/** Sums up an act: "3 restored, 1 removed, 1 kept". */
export function tallyOf(paths: readonly PathReceipt[]): string {
  const order: readonly PathChange[] = ['created', 'restored', 'merged', 'removed', 'kept'];
  return order
    .map((change) => [paths.filter((one) => one.change === change).length, changes[change].word] as const)
    .filter(([count]) => count > 0)
    .map(([count, word], i) => `${i === 0 ? plural(count, ['# path', '# paths']) : count} ${word}`)
    .join(', ');
}

/** Sums up a collection of old undo entries. */
export function collectedWords({ entries, bytes_freed, entries_left, bytes_left }: CollectionReceipt): {
  title: string;
  text: string;
} {
  const left = `${plural(entries_left, ['# entry', '# entries'])} left, ${bytes(bytes_left)}.`;
  if (entries === 0 && bytes_freed === 0) return { title: 'Nothing to clean up', text: left };
  return {
    title: `${bytes(bytes_freed)} freed`,
    text: `${plural(entries, ['# old entry', '# old entries'])} dropped. ${left}`,
  };
}
