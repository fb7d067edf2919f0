// The question whether a session may be deleted: one at a time, with what goes with it.

import type { DeletionPreview, SessionView } from '../ipc/bindings';
import type { Store } from './store.svelte';

/** A session that the person wants to delete, and what goes with it. */
export interface AskedDeletion {
  session: SessionView;
  preview: DeletionPreview;
}

export class Deletion {
  /** The open question; none while there is none. */
  asked: AskedDeletion | null = $state.raw(null);
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Asks whether a session may be deleted. */
  async ask(session: SessionView): Promise<void> {
    try {
      const preview = await this.#store.query({ type: 'deletion_preview', session: session.id });
      this.asked = { session, preview };
    } catch (thrown) {
      this.#store.tellFault(thrown);
    }
  }

  /** Deletes the session that the question is about. */
  async confirm(): Promise<void> {
    const asked = this.asked;
    this.asked = null;
    if (!asked) return;
    const { session } = asked;
    const receipt = await this.#store.submit({ type: 'delete_session', session: session.id, host: 'window' });
    if (receipt)
      this.#store.toasts.add({
        icon: 'done',
        ink: 'plain',
        title: 'Session deleted',
        text: session.title,
        brief: true,
      });
  }

  /** Leaves the session as it is. */
  keep(): void {
    this.asked = null;
  }
}
