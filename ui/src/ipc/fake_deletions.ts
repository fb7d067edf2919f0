// Deleted sessions: what would go with one, and the lines that stay of them.

import type { CallEntry } from '../state/fold';
import type { DeletedSession, DeletionPreview, Event } from './bindings';

/** Returns what goes with a session that has these calls and as many sub-agents. */
export function previewDeletion(calls: readonly CallEntry[], subAgents: number): DeletionPreview {
  const undos = calls.flatMap((entry) => entry.body.undo ?? []);
  return {
    calls: calls.length,
    sub_agents: subAgents,
    undo_entries: undos.length,
    undo_bytes: undos.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Returns the sessions that were deleted, the last one first. */
export function deletedSessions(events: readonly Event[]): DeletedSession[] {
  const deleted = events.flatMap(({ session, at, body }) =>
    body.type === 'session_deleted' ? [{ session, at, host: body.host, calls: body.calls }] : [],
  );
  return deleted.reverse();
}
