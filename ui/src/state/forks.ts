// Sessions that go on from a message of another one.

import type { SessionView } from '../ipc/bindings';
import { isAgent } from './agents.svelte';
import type { Desk } from './desk.svelte';
import { draftsOf } from './drafts';
import { isReadOnly } from './imported';

/** A message of the person that is said anew. */
export interface SaidMessage {
  id: string;
  text: string;
}

/** Tells whether a session can be forked: an agent of somebody else keeps its conversation itself. */
export const canFork = (session: SessionView): boolean => !isAgent(session.model) && !isReadOnly(session);

/** Forks a session and opens the fork: before a message, which stands in the box to be changed, or as a whole. */
export async function forkSession(desk: Desk, session: string, before?: SaidMessage): Promise<void> {
  const receipt = await desk.submit({ type: 'fork_session', session, ...(before && { before: before.id }) });
  if (!receipt?.session) return;
  if (before) draftsOf(desk).set(receipt.session, before.text);
  desk.navigation.show(receipt.session);
  desk.announced = 'Forked. The other session stays as it is.';
}
