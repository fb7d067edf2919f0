// The history of the recorded engine: the changes of calls and of the person, the conflicts that undoing them would
// meet, and receipts.

import type {
  CollectionReceipt,
  Conflict,
  ConflictChoice,
  FileDiff,
  IrreversibleEffect,
  PathChoice,
  PathReceipt,
  RestorePreview,
  RestoreReceipt,
  RestoreRequest,
  Timeline,
  UndoEntry,
} from './bindings';
import { Refused } from './desk';

const STORE_BYTES_MAX = 2_000_000_000;

/** A difference of a few lines, as the engine would draw it. */
function differs(path: string, texts: readonly string[]): FileDiff {
  let [old, fresh] = [4, 4];
  const lines = texts.map((text) => {
    const kind = text[0] === '+' ? ('added' as const) : text[0] === '-' ? ('removed' as const) : ('context' as const);
    return {
      kind,
      old: kind === 'added' ? null : old++,
      new: kind === 'removed' ? null : fresh++,
      parts: [{ text: text.slice(1) }],
    };
  });
  const count = (sign: string) => texts.filter((text) => text.startsWith(sign)).length;
  return {
    path,
    exists: true,
    language: 'rust',
    added: count('+'),
    removed: count('-'),
    hunks: [{ id: 0, old_start: 4, new_start: 4, section: '', added: count('+'), removed: count('-'), lines }],
  };
}

/** A path that a person changed after the call: one that can be merged if its name ends with `lib.rs`. */
function conflictOf(path: string): Conflict {
  const stands = (bytes: number) => ({ what: 'file' as const, bytes, mode: 0o644 });
  const merges = path.endsWith('lib.rs');
  const choices: ConflictChoice[] = merges ? ['keep', 'merge', 'restore'] : ['keep', 'restore'];
  return {
    path,
    left: stands(2_280),
    wanted: stands(2_310),
    now: stands(2_296),
    choices,
    ...(merges && {
      merged: differs(path, [
        ' pub mod exec;',
        '-pub use planner::Planner;',
        '+pub mod plan;',
        '+pub use plan::Planner;',
        ' pub mod trace;',
      ]),
    }),
    ...(merges && {
      restored: differs(path, [
        ' pub mod exec;',
        '-pub use planner::Planner;',
        '+pub mod plan;',
        '+pub use plan::Planner;',
        '-pub mod trace;',
      ]),
    }),
  };
}

export class FakeHistory {
  /** Entries that were changed by hand since. */
  conflicts: Record<string, string[]> = {};
  /** Effects of calls that no copy for undo restores. */
  lost: readonly IrreversibleEffect[] = [];
  warnings: string[] = [];
  #acts: UndoEntry[] = [];
  #receipts = new Map<string, RestoreReceipt>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  #all(calls: readonly UndoEntry[]): UndoEntry[] {
    return [...calls, ...this.#acts].sort((one, other) => other.at - one.at);
  }
  timeline(calls: readonly UndoEntry[], workspace: string | null, offset: number, limit: number): Timeline {
    const all = this.#all(calls).filter((entry) => workspace === null || entry.workspace === workspace);
    const bytes = this.#all(calls).reduce((sum, entry) => sum + entry.bytes, 0);
    return {
      entries: all.slice(offset, offset + limit),
      more: all.length > offset + limit,
      entries_total: all.length,
      store_bytes: bytes,
      store_bytes_max: STORE_BYTES_MAX,
      keep_days: 30,
      warnings: this.warnings,
    };
  }

  preview(calls: readonly UndoEntry[], restore: RestoreRequest): RestorePreview {
    const all = this.#all(calls);
    const about = (ids: readonly string[]) => all.filter(({ id }) => ids.includes(id));
    const point = restore.type === 'undo_to' ? all.find(({ id }) => id === restore.entry) : undefined;
    const entries =
      restore.type === 'undo'
        ? about(restore.entries)
        : restore.type === 'redo'
          ? about([restore.entry])
          : all.filter(
              (entry) =>
                point && entry.workspace === point.workspace && entry.at > point.at && entry.state === 'applied',
            );
    const undoes = restore.type !== 'redo';
    const paths = entries.flatMap((entry) =>
      entry.shown.map((path): PathReceipt => ({
        path,
        change:
          undoes === /^Wrote/.test(entry.title)
            ? 'removed'
            : /^Deleted/.test(entry.title)
              ? undoes
                ? 'created'
                : 'removed'
              : 'restored',
      })),
    );
    const removes = paths.filter(({ change }) => change === 'removed').length;
    const cannot = this.lost.filter(({ entry }) => entries.some(({ id }) => id === entry));
    const files = (count: number) => `${count} ${count === 1 ? 'file' : 'files'}`;
    const does = [
      paths.length > removes ? `restores ${files(paths.length - removes)}` : '',
      removes > 0 ? `removes ${files(removes)}` : '',
    ]
      .filter(Boolean)
      .join(' and ');
    const text = `${does.charAt(0).toUpperCase()}${does.slice(1)}${cannot.length > 0 ? `; cannot undo: ${cannot.map(({ what }) => what).join(', ')}` : ''}.`;
    return {
      direction: undoes ? 'undo' : 'redo',
      entries,
      conflicts: entries.flatMap(({ id }) => this.conflicts[id] ?? []).map(conflictOf),
      paths,
      paths_total: entries.reduce((sum, entry) => sum + entry.paths, 0),
      coverage: {
        text,
        restores: paths.length - removes,
        removes,
        bytes: entries.reduce((sum, entry) => sum + entry.bytes, 0),
        cannot,
      },
    };
  }

  /** Carries out a restore, whole or not at all; the caller emits the events of the entries whose state changes. */
  carryOut(
    calls: readonly UndoEntry[],
    restore: RestoreRequest,
    choices: readonly PathChoice[],
  ): { receipt: RestoreReceipt; preview: RestorePreview } {
    const preview = this.preview(calls, restore);
    const open = preview.conflicts.filter(({ path }) => !choices.some((choice) => choice.path === path));
    if (open.length > 0)
      throw new Refused({
        message: `${open.map(({ path }) => path).join(', ')} changed since.`,
        hint: 'Nothing was touched.',
        context: [],
      });
    const said = new Map(choices.map(({ path, choice }) => [path, choice]));
    const paths = preview.paths.map((one): PathReceipt => {
      const choice = said.get(one.path);
      return choice === 'keep' ? { ...one, change: 'kept' } : choice === 'merge' ? { ...one, change: 'merged' } : one;
    });
    const [first] = preview.entries;
    if (!first) throw new Refused({ message: 'There is nothing to undo.', hint: '', context: [] });
    const entry: UndoEntry = {
      ...first,
      id: `act_${this.#acts.length + 1}`,
      at: this.#now(),
      title: `${preview.direction === 'undo' ? 'Undid' : 'Redid'}: ${preview.entries.length === 1 ? first.title : `${preview.entries.length} entries`}`,
      paths: preview.paths_total,
      bytes: preview.coverage.bytes,
      shown: paths.map(({ path }) => path).slice(0, 20),
      state: 'applied',
      action: { direction: preview.direction, of: preview.entries.map(({ id }) => id) },
    };
    this.#acts = [
      ...this.#acts.map((act) =>
        preview.entries.some(({ id }) => id === act.id)
          ? { ...act, state: preview.direction === 'undo' ? ('undone' as const) : ('applied' as const) }
          : act,
      ),
      entry,
    ];
    const receipt: RestoreReceipt = { entry, paths, paths_total: preview.paths_total };
    this.#receipts.set(entry.id, receipt);
    for (const { id } of preview.entries) delete this.conflicts[id];
    return { receipt, preview };
  }
  receipt(id: string): RestoreReceipt {
    const found = this.#receipts.get(id);
    if (found) return found;
    throw new Refused({ message: 'There is no receipt of that.', hint: '', context: [] });
  }
  collect(calls: readonly UndoEntry[]): CollectionReceipt {
    const left = this.#all(calls);
    return {
      entries: 2,
      bytes_freed: 1_204_000,
      entries_left: left.length,
      bytes_left: left.reduce((sum, entry) => sum + entry.bytes, 0),
    };
  }
}
