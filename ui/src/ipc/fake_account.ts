/** The account of a call as the engine would give it, for hosts that only replay events. */
import type { Answer, CallView } from './bindings';

export function account(view: CallView): Answer {
  const { outcome } = view;
  return {
    type: 'account',
    summary: [
      { part: 'validated', text: `The arguments fit what ${view.tool} takes.` },
      { part: 'authorised', text: view.trail?.lead ?? 'Not reached.' },
      { part: 'executed', text: view.started_at === null ? `Never ran; ${view.state}.` : `Ran; ${view.state}.` },
      {
        part: 'streamed',
        text:
          view.output === '' ? 'Nothing was reported while it ran.' : `${view.output.length} bytes, for people only.`,
      },
      { part: 'rendered', text: `Shown as “${view.title} ${view.target}”.` },
      { part: 'persisted', text: outcome ? `${outcome.text.length} bytes of text for the model.` : 'No result yet.' },
      { part: 'audited', text: 'Every event is on record.' },
    ],
    account: {
      call: view.call.id,
      tool: view.tool,
      validated: { passed: view.trail ? true : null, problem: null, edited: [] },
      authorised: {
        mode: view.mode,
        kind: view.kind,
        trail: view.trail,
        asked: 0,
        decision: null,
        digest: null,
        decision_ref: null,
      },
      executed: {
        state: view.state,
        started_at: view.started_at,
        ended_at: view.ended_at,
        duration_ms: outcome?.duration_ms ?? null,
        starts: 0,
      },
      streamed: { pieces: 0, bytes: view.output.length },
      rendered: {
        title: view.title,
        target: view.target,
        preview: view.preview.type,
        refreshed: 0,
        message: outcome?.message ?? null,
      },
      persisted: {
        text_bytes: outcome?.text.length ?? null,
        digest: outcome?.digest ?? null,
        sidecar: null,
        state: [],
        undo: null,
        undo_state: null,
      },
      audited: [],
    },
  };
}
