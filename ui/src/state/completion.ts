// Whether a result ends the run: the same rule as the engine's (crates/protocol/src/result.rs), held to it by
// tests/cases/completion.json.
import type { Outcome } from '../ipc/bindings';

/** Facts of a 000 result about its own end. */
export interface Completion {
  success: boolean;
  terminal?: boolean | null;
  needsFollowup?: boolean | null;
}

/** Tells whether the run ends with this result. */
export function isTerminal(result: Completion): boolean {
  return result.terminal === true || (!result.success && result.needsFollowup !== true);
}

/** The call's visible status. */
export function statusOf(result: Completion): 'done' | 'error' {
  return result.success ? 'done' : 'error';
}

/** The same of a call's outcome. */
export function completionOf(outcome: Outcome): Completion {
  return { success: outcome.state === 'done', terminal: outcome.terminal, needsFollowup: outcome.needs_followup };
}

/**
 * Returns the text of an outcome that the model read: the tool's text or the word that there is none, then the notes
 * beside it.
 */
export function modelText(outcome: Outcome): string {
  const words = (outcome.content ?? []).flatMap((item) =>
    item.type === 'text'
      ? [item.text]
      : item.type === 'resource'
        ? [`[See ${item.title === '' ? '' : `${item.title}: `}${item.uri}]`]
        : [],
  );
  const lead = outcome.text !== '' ? [outcome.text] : outcome.empty ? [outcome.empty] : [];
  return [...lead, ...words, ...(outcome.notes ?? [])].join('\n\n');
}
