// The news between two states: cards that landed, effects that were undone.

import { plural } from '../widgets/figures';
import type { Event, Op } from '../ipc/bindings';
import type { CallEntry } from './fold';
import { entryKey, type State } from './reduce';
import type { ToastLine } from './toasts.svelte';

/** News as it is told to the person. */
interface News {
  /** How many times something was changed, undone or done again. */
  changes: number;
  /** Text for a screen reader; empty for none. */
  announced: string;
  toasts: ToastLine[];
  /** Cards that waited and no longer do. */
  over: string[];
}

/** Acts that a toast offers. */
export interface Offers {
  /** Cards that are visible: they need no toast. */
  inView: ReadonlySet<string>;
  show: (entry: CallEntry) => void;
  submit: (op: Op) => void;
}

/** The news of some events. */
export function newsOf(before: State, after: State, events: readonly Event[], offers: Offers): News {
  const news: News = { changes: 0, announced: '', toasts: [], over: [] };
  const known = new Set(before.desk.filter(({ body }) => body.state === 'waiting').map(entryKey));
  const waiting = new Set(after.desk.filter(({ body }) => body.state === 'waiting').map(entryKey));
  news.over = [...known].filter((key) => !waiting.has(key));
  for (const entry of after.desk) {
    const key = entryKey(entry);
    if (known.has(key) || entry.body.state !== 'waiting') continue;
    news.announced = `${entry.body.title} ${entry.body.target}`.trim() + ` ${needs(entry)}.`;
    if (!offers.inView.has(key)) news.toasts.push(landed(entry, after, offers));
  }
  /** Paths that went back or came again, by the act of the person. */
  const acts = new Map<string, Restored>();
  for (const { seq, body } of events) {
    if (seq <= before.seq) continue;
    if (body.type === 'undo_prepared' || body.type === 'call_ended') news.changes += 1;
    if (body.type !== 'undo_applied' && body.type !== 'redo_applied') continue;
    news.changes += 1;
    const key = body.action ?? body.entry;
    acts.set(key, { ...body, paths: body.paths + (acts.get(key)?.paths ?? 0) });
  }
  for (const body of acts.values()) {
    const line = restored(body, offers);
    news.announced = `${line.title}.`;
    news.toasts.push(line);
  }
  return news;
}

/** What a card needs from the person. */
const needs = ({ body }: CallEntry): string => (body.preview.type === 'form' ? 'needs an answer' : 'needs approval');

function landed(entry: CallEntry, state: State, offers: Offers): ToastLine {
  return {
    icon: 'waiting',
    ink: 'asking',
    title: `${entry.body.title} ${needs(entry)}`,
    text: state.sessions.find((session) => session.id === entry.session)?.title,
    act: { text: 'Show', run: () => offers.show(entry) },
    about: entryKey(entry),
    brief: true,
  };
}

type Restored = Extract<Event['body'], { type: 'undo_applied' | 'redo_applied' }>;

function restored(body: Restored, offers: Offers): ToastLine {
  const undone = body.type === 'undo_applied';
  return {
    icon: undone ? 'undone' : 'redo',
    ink: 'undone',
    title: undone
      ? plural(body.paths, ['# path restored', '# paths restored'])
      : plural(body.paths, ['# path changed again', '# paths changed again']),
    text: undone ? 'As before the call, times and modes included.' : undefined,
    act: {
      text: undone ? 'Redo' : 'Undo',
      run: () =>
        offers.submit(
          body.action === undefined
            ? { type: undone ? 'redo' : 'undo', entry: body.entry }
            : { type: 'restore', restore: { type: 'undo', entries: [body.action] } },
        ),
    },
    about: body.action ?? body.entry,
    brief: true,
  };
}
