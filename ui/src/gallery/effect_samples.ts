// Commands with the effects of their dry runs, in every state, for the gallery page and the tests of the card.

import type { Assurance, CommandPreview, Effect, Effects, PathInfo, Preview } from '../ipc/bindings';
import { DIGEST, entry, NOW, outcome, undoEntry, waiting } from './sample_calls';
import { file, hunk } from './sample_diffs';
import { command } from './samples';

const run = {
  tool: 'bash',
  title: 'Run',
  kind: 'execute',
  mode: 'local',
  undo_availability: { type: 'secured' },
  target: 'cargo upgrade -p axum@0.8.1 && cargo update -w > ../../target/upgrade.log\nrm -r src/compat',
} as const;
const plain = { ...run, target: 'cargo fix --allow-dirty' };
const stands = (bytes: number, mode = 0o644, more: Partial<PathInfo> = {}): PathInfo => ({
  what: 'file',
  bytes,
  mode,
  ...more,
});

const manifest = file(
  'services/gateway/Cargo.toml',
  'toml',
  [
    hunk(0, 18, 18, 'dependencies › axum › version', [
      '-axum = { version = "0.‹7.9›", features = ["macros"] }',
      '+axum = { version = "0.‹8.1›", features = ["macros"] }',
      ' hyper = "1.5"',
      '-axum-extra = "0.‹9.6›"',
      '+axum-extra = "0.‹10.0›"',
    ]),
  ],
  {
    summary: [
      { place: 'dependencies › axum › version', kind: 'changed', before: '0.7.9', after: '0.8.1' },
      { place: 'dependencies › axum-extra', kind: 'changed', before: '0.9.6', after: '0.10.0' },
    ],
  },
);
const notes = file(
  'services/gateway/CHANGES-axum-0.8.md',
  'markdown',
  [hunk(0, 0, 1, '', ['+# axum 0.8', '+', '+Paths are written `/{id}` now.'])],
  { exists: false },
);
const gone = file('services/gateway/src/compat/extract.rs', 'rust', [
  hunk(0, 1, 1, '', ['-//! Extractors of axum 0.6.', '-pub struct Old;']),
]);

/** Six paths that a command changed, one of each plain kind and some more. */
export const changes: readonly Effect[] = [
  {
    id: 0,
    path: 'Cargo.lock',
    kind: 'changed',
    before: stands(18_102),
    after: stands(18_420),
    undiffed: 'too large to be compared',
  },
  {
    id: 1,
    path: 'services/gateway/CHANGES-axum-0.8.md',
    kind: 'added',
    before: null,
    after: stands(1_120),
    diff: notes,
  },
  {
    id: 2,
    path: 'services/gateway/Cargo.toml',
    kind: 'changed',
    before: stands(902),
    after: stands(903),
    diff: manifest,
  },
  { id: 3, path: 'services/gateway/build.sh', kind: 'mode', before: stands(120), after: stands(120, 0o755) },
  {
    id: 4,
    path: 'services/gateway/current',
    kind: 'link',
    before: null,
    after: stands(0, 0o777, { what: 'link', target: 'releases/0.8' }),
  },
  {
    id: 5,
    path: 'services/gateway/docs/upgrade.md',
    kind: 'renamed',
    before: stands(2_300),
    after: stands(2_300),
    from: 'docs/axum.md',
  },
  {
    id: 6,
    path: 'services/gateway/src/compat',
    kind: 'deleted',
    before: stands(0, 0o755, { what: 'folder' }),
    after: null,
  },
  {
    id: 7,
    path: 'services/gateway/src/compat/extract.rs',
    kind: 'deleted',
    before: stands(4_012),
    after: null,
    diff: gone,
  },
  {
    id: 8,
    path: 'services/gateway/src/compat/local_tokens.rs',
    kind: 'deleted',
    before: stands(1_940),
    after: null,
    undiffed: 'binary',
  },
  { id: 9, path: 'target/agent.sock', kind: 'special', before: null, after: stands(0, 0o755, { what: 'special' }) },
];

/** Makes the effects of a command; members that are not given are those of a run that went well. */
export function effectsOf(more: Partial<Effects> = {}): Effects {
  const text =
    '   Upgrading axum 0.7.9 -> 0.8.1\n   Upgrading axum-extra 0.9.6 -> 0.10.0\n     warning packages.example unreachable,\n             using the local index\n    Updating 7 packages\n';
  return {
    assurance: 'speculative',
    exit_code: 0,
    ended: '',
    output: [{ text, control: false }],
    output_bytes: text.length,
    changes: [...changes],
    refused: [],
    notes: [],
    digest: DIGEST,
    ...more,
  };
}

const reasons: Record<Assurance, string[]> = {
  speculative: [
    'The command ran on a copy-on-write view of the folder, at its own path.',
    'Network, other programs’ sockets and everything outside the folder were closed to it.',
  ],
  snapshot: [
    'This folder lies on a disk that cannot be overlaid, so a copy of it was made first.',
    'Undo brings back the folder whole; what it did elsewhere stays.',
  ],
  gate_only: [
    'User namespaces are switched off on this machine.',
    'Without them a command can only be let run or not.',
  ],
};
export function assured(assurance: Assurance, more: Partial<CommandPreview> = {}): CommandPreview {
  return { ...command, assurance, assured: reasons[assurance], ...more };
}
const short = (text: string, assurance: Assurance): CommandPreview =>
  assured(assurance, { command: [{ text, control: false }], facts: [{ what: 'program', text, verdict: 'ask' }] });
const did = (more: Partial<Effects> = {}, text = plain.target): Preview => ({
  type: 'effects',
  command: short(text, more.assurance ?? 'speculative'),
  effects: effectsOf(more),
});
const granting = (text: string) => [
  { reach: 'once' as const, button: 'Allow', text },
  { reach: 'nothing' as const, button: 'Reject', text: 'throws the dry run away. The agent is told, and goes on.' },
];
const waits = (text = 'writes exactly these changes into the folder. The command is not run again.') => ({
  digest: DIGEST,
  since: NOW - 180_000,
  grants: granting(text),
  refreshed: null,
  expires_at: null,
});
const refused: Effects['refused'] = [
  { kind: 'network', target: 'packages.example:443' },
  { kind: 'secret', target: '.env.production' },
  { kind: 'write', target: '/home/mira/.cargo/registry/index' },
];

/** So many changed files, some of them deleted. */
export function manyChanges(count: number): Effect[] {
  return Array.from({ length: count }, (_, id): Effect => {
    const path = `packages/part-${String(Math.floor(id / 100)).padStart(3, '0')}/src/module-${String(id % 100).padStart(2, '0')}.ts`;
    const kind = id % 37 === 5 ? 'deleted' : id % 11 === 3 ? 'added' : 'changed';
    const diff = file(path, 'typescript', [
      hunk(0, 1, 1, '', [`-export const part = ${id};`, `+export const part = ‹${id + 1}›;`]),
    ]);
    return {
      id,
      path,
      kind,
      before: kind === 'added' ? null : stands(800 + id),
      after: kind === 'deleted' ? null : stands(801 + id),
      diff,
    };
  });
}

/** Every sample, by what it shows. */
export const effectSamples = {
  canDryRun: waiting('c_can', {
    ...plain,
    undo_availability: { type: 'captured' },
    preview: { type: 'command', ...short('cargo fix --allow-dirty', 'speculative') },
  }),
  canRunInPlace: waiting('c_place', {
    ...plain,
    undo_availability: { type: 'captured' },
    preview: {
      type: 'command',
      ...assured('speculative', {
        ...short('npm install && npm run build', 'speculative'),
        facts: [
          { what: 'program', text: 'npm install', verdict: 'ask' },
          { what: 'network', text: 'registry.example' },
        ],
        in_place: true,
      }),
    },
  }),
  runsForReal: waiting('c_real', {
    ...plain,
    undo_availability: { type: 'snapshot' },
    preview: { type: 'command', ...short('cargo fix --allow-dirty', 'snapshot') },
  }),
  gateOnly: waiting('c_gate', {
    ...plain,
    undo_availability: { type: 'unsecured', reason: 'What a command changes is not known before.' },
    preview: { type: 'command', ...short('cargo fix --allow-dirty', 'gate_only') },
  }),
  effects: waiting('c_effects', {
    ...run,
    preview: { type: 'effects', command: assured('speculative'), effects: effectsOf({ refused: refused.slice(0, 1) }) },
    pending: waits(),
    reasoning: 'Raise axum to 0.8 and drop the compatibility shim, which nothing imports any more.',
  }),
  effectsDelegated: waiting('c_delegated', {
    ...run,
    undo_availability: { type: 'snapshot' },
    preview: { type: 'effects', command: { ...assured('speculative'), delegated: true }, effects: effectsOf({}) },
    pending: waits('runs exactly this command, once.'),
  }),
  effectsReached: waiting('c_reached', {
    ...run,
    preview: did({
      refused: [{ kind: 'network', target: 'telemetry.example.com:443' }],
      reached: [
        { host: 'index.packages.example', port: 443, connections: 3, sent: 4_120, received: 1_204_000 },
        { host: 'static.packages.example', port: 443, connections: 9, sent: 18_400, received: 48_210_000 },
      ],
    }),
    pending: waits(),
  }),
  effectsReadElsewhere: waiting('c_reads', {
    ...plain,
    target: 'python tools/summary.py',
    preview: did(
      {
        changes: [],
        outside_reads: ['/home/mira/notes/2026/contracts.md', '/home/mira/code/shared/levels.csv'],
        output: [{ text: '14 contracts, 3 open', control: false }],
        output_bytes: 21,
      },
      'python tools/summary.py',
    ),
    pending: waits('gives the agent what it printed.'),
  }),
  effectsFailed: waiting('c_exit', {
    ...plain,
    preview: did({
      exit_code: 101,
      changes: changes.slice(2, 3),
      refused,
      notes: [
        '`Cargo.toml` has another name: `services/link.toml`. Both would change.',
        'A process was left behind and was ended.',
      ],
    }),
    pending: waits(),
  }),
  effectsNone: waiting('c_none', {
    ...plain,
    target: 'cargo test',
    preview: did(
      { changes: [], output: [{ text: 'test result: ok. 214 passed; 0 failed', control: false }], output_bytes: 38 },
      'cargo test',
    ),
    pending: waits('gives the agent what it printed.'),
  }),
  effectsEnded: waiting('c_ended', {
    ...plain,
    preview: did({
      exit_code: null,
      ended: 'time limit',
      changes: changes.slice(1, 2),
      output: [],
      output_bytes: 0,
      refused: [{ kind: 'limit', target: '120 s' }],
    }),
    pending: waits(),
  }),
  effectsMany: waiting('c_many', { ...plain, preview: did({ changes: manyChanges(10_000) }), pending: waits() }),
  effectsSnapshot: entry('c_snapshot', {
    ...plain,
    state: 'done',
    preview: did({ assurance: 'snapshot', changes: changes.slice(0, 3) }),
    undo: { ...undoEntry, title: 'Ran cargo fix', paths: 3 },
    outcome: outcome({ message: 'exit 0', data: { exit_code: 0 }, duration_ms: 6_200 }),
  }),
  effectsCommitted: entry('c_committed', {
    ...plain,
    state: 'done',
    preview: did(),
    decision: { decision: { type: 'allow', hunks: [0, 1, 2, 3, 4, 5], note: '' }, at: NOW },
    undo: { ...undoEntry, title: 'Ran cargo fix', paths: 6 },
    outcome: outcome({ message: 'exit 0', data: { exit_code: 0 }, duration_ms: 6_200 }),
  }),
  effectsDiscarded: entry('c_discarded', {
    ...plain,
    state: 'rejected',
    preview: did({ changes: changes.slice(0, 2) }),
    decision: { decision: { type: 'reject', note: '', stop: false }, at: NOW },
  }),
  dryRunning: entry('c_dry_running', {
    ...plain,
    state: 'running',
    started_at: NOW - 4_000,
    preview: { type: 'command', ...short('cargo fix --allow-dirty', 'speculative') },
    decision: { decision: { type: 'dry_run' }, at: NOW - 4_000 },
    output: '    Checking tidemark v0.14.0',
  }),
} as const;
