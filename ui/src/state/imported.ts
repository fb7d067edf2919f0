// Sessions that were imported from the transcripts of other agents. Pure.

import type { SessionView } from '../ipc/bindings';

/** Provider of an imported session; its model is the agent with its version. */
const IMPORTED_PROVIDER = 'imported';

/** Tells whether a session was imported: nothing of it was judged here, and it is not continued here. */
export const isImported = ({ model }: Pick<SessionView, 'model'>): boolean => model.provider === IMPORTED_PROVIDER;

/** Provider of a session whose calls a program outside makes. */
const CLIENT_PROVIDER = 'client';

/** Tells whether nobody answers in a session here: it was imported, or a program outside makes its calls. */
export const isReadOnly = (session: Pick<SessionView, 'model'>): boolean =>
  isImported(session) || session.model.provider === CLIENT_PROVIDER;
