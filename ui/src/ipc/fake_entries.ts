// Pages of a transcript, and the newest failed call, out of folded entries.

import { isCall } from '../state/fold';
import type { Answer, Entry, Query } from './bindings';

type EntryQuery = Extract<Query, { type: 'transcript' | 'transcript_from' | 'failed_call' }>;

/** Answers a question about the entries of a session, which hold the events up to `seq`. */
export function answerFromEntries(entries: readonly Entry[], seq: number, query: EntryQuery): Answer {
  if (query.type === 'transcript_from') {
    const newer = entries.filter((entry) => entry.seq >= query.from);
    const more = newer.length > query.limit;
    return { type: 'transcript', entries: newer.slice(0, query.limit), more, seq };
  }
  const { before } = query;
  const older = before === null ? entries : entries.filter((entry) => entry.seq < before);
  if (query.type === 'failed_call') {
    const entry = older.findLast((one) => isCall(one) && one.body.state === 'failed');
    return { type: 'failed_call', entry: entry ?? null };
  }
  return { type: 'transcript', entries: older.slice(-query.limit), more: older.length > query.limit, seq };
}
