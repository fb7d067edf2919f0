// Changed paths as a tree, flat enough to be drawn row by row however many there are. Pure.

import type { Effect } from '../../../ipc/bindings';

/** One row: a path that changed, or a folder that only holds such. */
export interface Row {
  /** Key of the row among all rows. */
  key: string;
  depth: number;
  /** Text of the row: the path from the parent row on. */
  name: string;
  /** The change at the path; none for a folder that only holds changes. */
  effect: Effect | null;
  /** Whether the row has rows below it. */
  holds: boolean;
  /** The stretch of all ids, in the order of the rows, that this row and those below it stand for. */
  from: number;
  to: number;
}

/** A heading between two trees. */
export interface Heading {
  key: string;
  text: string;
}

/** Everything that is drawn, and the ids in the same order. */
export interface Tree {
  rows: readonly (Row | Heading)[];
  /** The ids that can be chosen, in the order of their rows. */
  ids: readonly number[];
}

/** Number of changes from which deletions stand first, in a part of their own. */
export const LOST_FIRST = 40;

interface Node {
  effect: Effect | null;
  below: Map<string, Node>;
}

/** Tells whether a change can be chosen: a pipe, a socket or a device is reported and never carried out. */
export function canChoose(effect: Effect): boolean {
  return effect.kind !== 'special';
}

export const isHeading = (row: Row | Heading): row is Heading => 'text' in row;

/** Returns the changes whose path holds all the words of a filter, and which are of a kind. */
export function filtered(changes: readonly Effect[], words: string, kind: Effect['kind'] | null): readonly Effect[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0 && kind === null) return changes;
  return changes.filter((effect) => {
    if (kind !== null && effect.kind !== kind) return false;
    const text = `${effect.path}\n${effect.from ?? ''}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

/** Returns the tree of some changes; `closed` holds the keys of rows whose rows below are folded away. */
export function treeOf(changes: readonly Effect[], closed: ReadonlySet<string>): Tree {
  const rows: (Row | Heading)[] = [];
  const ids: number[] = [];
  const lost = changes.filter(({ kind }) => kind === 'deleted');
  if (changes.length < LOST_FIRST || lost.length === 0 || lost.length === changes.length) {
    grow(rows, ids, changes, '', closed);
  } else {
    rows.push({ key: 'heading:lost', text: 'Deleted' });
    grow(rows, ids, lost, 'lost:', closed);
    rows.push({ key: 'heading:rest', text: 'Everything else' });
    grow(
      rows,
      ids,
      changes.filter(({ kind }) => kind !== 'deleted'),
      'rest:',
      closed,
    );
  }
  return { rows, ids };
}

function grow(
  rows: (Row | Heading)[],
  ids: number[],
  changes: readonly Effect[],
  prefix: string,
  closed: ReadonlySet<string>,
): void {
  const root: Node = { effect: null, below: new Map() };
  for (const effect of changes) {
    let at = root;
    for (const part of effect.path.split('/')) {
      let next = at.below.get(part);
      if (!next) at.below.set(part, (next = { effect: null, below: new Map() }));
      at = next;
    }
    at.effect = effect;
  }
  /** Rows below a folded one are counted, not drawn. */
  const walk = (node: Node, path: string, depth: number, drawn: boolean): void => {
    for (let [name, child] of node.below) {
      // A folder that holds one thing alone shares its row.
      while (child.effect === null && child.below.size === 1) {
        const [part, only] = [...child.below][0] as [string, Node];
        name = `${name}/${part}`;
        child = only;
      }
      const full = path === '' ? name : `${path}/${name}`;
      const key = prefix + full;
      const row: Row = { key, depth, name, effect: child.effect, holds: child.below.size > 0, from: ids.length, to: 0 };
      if (drawn) rows.push(row);
      if (child.effect && canChoose(child.effect)) ids.push(child.effect.id);
      walk(child, full, depth + 1, drawn && !closed.has(key));
      row.to = ids.length;
    }
  };
  walk(root, '', 0, true);
}

/** Counts, for each place, how many of the first ids are left out: the sums from which ticks are computed. */
export function leftBefore(ids: readonly number[], left: ReadonlySet<number>): Uint32Array {
  const sums = new Uint32Array(ids.length + 1);
  for (let i = 0; i < ids.length; i += 1) sums[i + 1] = (sums[i] ?? 0) + (left.has(ids[i] as number) ? 1 : 0);
  return sums;
}

/** Returns whether the changes of a row are chosen: all, none, or some; `null` where none can be chosen. */
export function tickOf(row: Row, sums: Uint32Array): boolean | 'mixed' | null {
  const all = row.to - row.from;
  if (all === 0) return null;
  const left = (sums[row.to] ?? 0) - (sums[row.from] ?? 0);
  return left === 0 ? true : left === all ? false : 'mixed';
}
