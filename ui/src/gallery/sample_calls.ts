// Makes calls as entries of a session, with what is usual of a plain edit.

import type { CallView, Grant, Outcome, Trail, UndoEntry } from '../ipc/bindings';
import type { CallEntry } from '../state/fold';
import { query } from './sample_diffs';

/** The current time of every sample: 2026-11-21, 16:10 in UTC. */
export const NOW = Date.UTC(2026, 10, 21, 16, 10, 0);
export const SESSION = 'ses_1';
export const DIGEST = '7c1e09ab5d3f8a6612c4e0b79d21f3a85566c0ffee1234567890abcdef1244f2';

export const asksTrail: Trail = {
  verdict: 'ask',
  lead: 'Needs approval by a rule: every edit of the parser is looked at.',
  otherwise: 'Without that rule it would run without asking.',
  steps: [
    {
      gate: 'mode',
      verdict: 'allow',
      text: 'From the pattern `edit*`, no override. By default it runs, and its diff is shown.',
    },
    {
      gate: 'capability',
      verdict: 'allow',
      text: '`fs.write` on 1 path, inside the workspace. No link leads outside.',
    },
    { gate: 'undo', verdict: null, text: 'A copy of 1 file is taken first.' },
    {
      gate: 'rules',
      verdict: 'ask',
      text: '3 rules match.',
      rules: [
        {
          rule: {
            permission: 'edit',
            pattern: 'crates/parser/**',
            action: 'ask',
            reason: null,
            scope: 'project',
            file: '.countersign/rules.toml',
            line: 14,
          },
          won: true,
          why: 'longest prefix',
        },
        {
          rule: {
            permission: 'edit',
            pattern: 'crates/**',
            action: 'allow',
            reason: null,
            scope: 'project',
            file: '.countersign/rules.toml',
            line: 9,
          },
          won: false,
          why: 'shorter prefix',
        },
        {
          rule: {
            permission: 'mode:safe_write',
            pattern: null,
            action: 'allow',
            reason: null,
            scope: 'user',
            file: '~/.config/countersign/rules.toml',
            line: 3,
          },
          won: false,
          why: 'less specific',
        },
      ],
    },
  ],
};

export const deniedTrail: Trail = {
  verdict: 'deny',
  lead: 'Denied by a rule: secrets are edited by hand.',
  otherwise: 'Without that rule you would be asked.',
  steps: [
    { gate: 'mode', verdict: 'allow', text: 'From the pattern `edit*`.' },
    {
      gate: 'rules',
      verdict: 'deny',
      text: '1 rule matches.',
      rules: [
        {
          rule: {
            permission: 'fs.write',
            pattern: '.env*',
            action: 'deny',
            reason: 'secrets are edited by hand.',
            scope: 'project',
            file: '.countersign/rules.toml',
            line: 4,
          },
          won: true,
          why: 'the only one',
        },
      ],
    },
  ],
};

/** Returns the grants of the two answers. */
function granting(allow: string, reject: string): Grant[] {
  return [
    { reach: 'once', button: 'Allow', text: allow },
    { reach: 'nothing', button: 'Reject', text: reject },
  ];
}
export const grants = granting(
  'writes the change to the file.',
  'leaves the file as it is. The agent goes on, or stops if you choose so.',
);

export const undoEntry: UndoEntry = {
  id: 'und_1',
  session: SESSION,
  call: 'c_undo',
  at: NOW - 60_000,
  workspace: '/home/mira/tidemark',
  title: 'Changed rewrite.rs',
  paths: 1,
  bytes: 6_812,
  shown: ['crates/planner/src/rewrite.rs'],
  state: 'applied',
};

/** An outcome. */
export function outcome(more: Partial<Outcome>): Outcome {
  return {
    state: 'done',
    text: '',
    message: '',
    duration_ms: 4,
    needs_followup: false,
    terminal: false,
    digest: DIGEST,
    ...more,
  };
}

/** Makes a call as an entry; members that are not given are those of a plain edit. */
export function entry(id: string, more: Partial<CallView> = {}, at = NOW - 60_000): CallEntry {
  const view: CallView = {
    call: {
      id,
      name: 'edit',
      arguments: { path: 'web/src/lib/query.ts', old_string: 'sql });', new_string: 'sql, signal });' },
    },
    edited: null,
    reasoning: null,
    tool: 'edit',
    title: 'Edit',
    target: 'web/src/lib/query.ts',
    mode: 'safe_write',
    kind: 'edit',
    state: 'done',
    trail: asksTrail,
    preview: { type: 'diff', files: [query] },
    undo_availability: { type: 'secured' },
    pending: null,
    decision: null,
    undo: null,
    undone_at: null,
    output: '',
    progress: null,
    outcome: null,
    started_at: null,
    ended_at: null,
    ...more,
  };
  return { id, session: SESSION, seq: 1, at, body: { type: 'call', ...view } };
}

/** The same call, waiting. */
export function waiting(id: string, more: Partial<CallView> = {}, ageMs = 42_000): CallEntry {
  const own =
    more.kind === 'delete'
      ? granting('removes these 4 files and nothing else.', 'keeps them. The agent is told.')
      : more.kind === 'execute'
        ? granting('runs exactly this, in this folder.', 'runs nothing. The agent goes on.')
        : more.kind === 'fetch'
          ? granting(
              'makes this one request. A short press does nothing.',
              'sends nothing. The agent is told, and goes on.',
            )
          : grants;
  return entry(id, {
    state: 'waiting',
    pending: { digest: DIGEST, since: NOW - ageMs, grants: own, refreshed: null, expires_at: null },
    ...more,
  });
}
