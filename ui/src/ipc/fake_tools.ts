// The tools of the recorded engine: one of each kind that the screen shows, and the outcome of a try.

import type { EventBody, Settings, ToolInterface, ToolMode, ToolView } from './bindings';

/** Facts that no tool states, in the order of the record. */
const INFERRED = [
  'identity.native_ids',
  'availability.required_credentials',
  'safety.is_destructive',
  'rendering.error_render_hint',
];

type Members = Record<string, unknown>;
const object = (properties: Members, required: readonly string[]): Members => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const path = { type: 'string', minLength: 1, maxLength: 4096, description: 'The file, relative to the workspace.' };

/** Modes that the engine offers to set instead of each mode. */
const stricter: Record<ToolMode, ToolMode[]> = {
  read: ['external', 'safe_write', 'destructive', 'local'],
  external: ['safe_write', 'destructive', 'local'],
  safe_write: ['destructive', 'local'],
  destructive: ['local'],
  local: [],
};

/** Makes a tool with the defaults of an interface; `more` overrides them. */
export function toolView(
  id: string,
  title: string,
  description: string,
  input: Members,
  more: Partial<ToolView> = {},
  own: Partial<ToolInterface> = {},
): ToolView {
  const record: ToolInterface = {
    identity: { tool_id: id, name: id, aliases: [], namespace: '', native_ids: {}, user_facing_name: title },
    discovery: {
      search_hint: '',
      description,
      capability_refs: [],
      schema_visibility: 'model',
      should_defer: false,
      always_load: false,
    },
    schemas: { model_input_schema: input, runtime_input_schema: input, output_schema: null, strict: true },
    availability: {
      is_enabled: true,
      requires_setup: false,
      required_credentials: [],
      model_requirements: [],
      feature_gate_refs: [],
    },
    validation: { schema_validation: true, value_validation: [], io_preflight_validation: [], deny_before_io: true },
    safety: {
      mode: more.mode ?? null,
      kind: more.kind ?? 'other',
      is_read_only: false,
      is_destructive: false,
      is_open_world: false,
      requires_user_interaction: false,
      is_concurrency_safe: false,
      sandbox_profile: 'nothing',
      classifier_input: '',
    },
    permission: {
      permission_profile_ref: 'ask',
      permission_matcher: 'nothing',
      permission_channel: 'card',
      decision_ref: 'call_judged:{call}',
    },
    execution: {
      execution_profile_ref: 'engine',
      timeout_ms: 120_000,
      abort_semantics: 'abandons',
      interrupt_behavior: 'block',
      progress_schema: null,
      context_modifier_policy: 'forbid',
    },
    result: {
      result_mapper: 'outcome',
      max_inline_chars: 204_800,
      persistence_policy_ref: 'sidecar',
      empty_result_policy: 'marker',
      redaction_policy_refs: ['secrets'],
    },
    rendering: {
      ui_summary: title,
      activity_description: title,
      progress_render_hint: 'line',
      rejected_render_hint: 'line',
      error_render_hint: 'line',
      transcript_search_text: '',
    },
    requires: {},
    origin: { type: 'built_in' },
    inferred: INFERRED,
    ...own,
  };
  return {
    record,
    mode: null,
    mode_from: 'declared by the tool',
    own_mode: more.mode ?? null,
    stricter_modes: stricter[more.mode ?? 'local'],
    kind: 'other',
    enabled: true,
    setup: null,
    locked: own.origin === undefined,
    ...more,
  };
}

/** Tools, one of each kind. */
export const fakeTools: readonly ToolView[] = [
  toolView(
    'read',
    'Read',
    'Reads a text file. Every line comes after its number.',
    object({ path, offset: { type: 'integer', minimum: 1, description: 'The first line, from 1.' } }, ['path']),
    { mode: 'read', kind: 'read' },
    { requires: { fs: { read: ['**'] } } },
  ),
  toolView(
    'edit',
    'Edit',
    'Replaces an exact text in an existing file.',
    object(
      {
        path,
        old_string: { type: 'string', minLength: 1, description: 'The text to be replaced.' },
        new_string: { type: 'string', description: 'The text in its place; may be empty.' },
        replace_all: { type: 'boolean' },
      },
      ['path', 'old_string', 'new_string'],
    ),
    { mode: 'safe_write', kind: 'edit' },
    {
      identity: {
        tool_id: 'edit',
        name: 'edit',
        aliases: [
          {
            name: 'edit_file',
            arguments: [
              ['old_text', 'old_string'],
              ['new_text', 'new_string'],
            ],
          },
        ],
        namespace: '',
        native_ids: {},
        user_facing_name: 'Edit',
      },
      requires: { fs: { read: ['**'], write: ['**'] } },
    },
  ),
  toolView(
    'bash',
    'Run',
    'Runs a command with the shell.',
    object({ command: { type: 'string', minLength: 1, description: 'The command.' } }, ['command']),
    { mode: 'local', kind: 'execute' },
    { requires: { shell: [{ cmd: '*' }] } },
  ),
  toolView(
    'question',
    'Question',
    'Asks the person one or more questions.',
    object(
      {
        questions: {
          type: 'array',
          minItems: 1,
          maxItems: 10,
          items: object(
            {
              question: { type: 'string', minLength: 1 },
              multi_select: { type: 'boolean', description: 'Whether several may be chosen.' },
            },
            ['question'],
          ),
        },
      },
      ['questions'],
    ),
    { mode: 'read', kind: 'other' },
  ),
  toolView(
    'sentiment',
    'Sentiment',
    'Says how a text feels. The model answers itself.',
    object(
      {
        text: { type: 'string' },
        tone: { enum: ['warm', 'plain', 'dry'] },
        around: object({ lines: { type: 'integer' } }, ['lines']),
      },
      ['text'],
    ),
    { mode: 'read', kind: 'think', locked: false },
    { origin: { type: 'file', path: '.countersign/tools/sentiment.json' } },
  ),
  toolView(
    'tracker__get_issue',
    'Issue',
    'Reads an issue of the tracker.',
    object({ number: { type: 'integer', minimum: 1 } }, ['number']),
    { mode: 'external', kind: 'fetch', locked: false, setup: 'The tracker wants a token: set TRACKER_TOKEN.' },
    {
      identity: {
        tool_id: 'tracker__get_issue',
        name: 'get_issue',
        aliases: [],
        namespace: 'tracker',
        native_ids: { mcp: 'get_issue' },
        user_facing_name: 'Issue',
      },
      discovery: {
        search_hint: 'issue tracker bug report',
        description: 'Reads an issue of the tracker.',
        capability_refs: ['net.fetch'],
        schema_visibility: 'model',
        should_defer: true,
        always_load: false,
      },
      schemas: {
        model_input_schema: object({ number: { type: 'integer', minimum: 1 } }, ['number']),
        runtime_input_schema: object(
          {
            number: { type: 'integer', minimum: 1 },
            token: { type: 'string', visibility: 'internal', mutation_source: 'credentials' },
          },
          ['number', 'token'],
        ),
        output_schema: object({ title: { type: 'string' } }, ['title']),
        strict: true,
      },
      requires: { net: { hosts: ['issues.example', '*.issues.example'] } },
      origin: { type: 'foreign', source: 'tracker (MCP)' },
    },
  ),
];

/** The tools as a person set them. */
export function asSet(tools: readonly ToolView[], set: Settings['tools']): ToolView[] {
  return tools.map((tool) => {
    const own = set[tool.record.identity.tool_id];
    return own
      ? { ...tool, enabled: own.enabled, ...(own.mode && { mode: own.mode, mode_from: 'set stricter by you' }) }
      : tool;
  });
}

/** Returns the problems of missing arguments, in the engine's words. */
export function missing(tools: readonly ToolView[], id: string, given: Record<string, unknown>): string[] {
  const schema = tools.find((tool) => tool.record.identity.tool_id === id)?.record.schemas.model_input_schema as
    { required?: string[] } | undefined;
  const absent = (schema?.required ?? []).filter((name) => given[name] === undefined || given[name] === '');
  return absent.map((name) => `\`${name}\` must not be empty.`);
}

/** Returns the events of a try: the call, its judgement, and, unless it waits, its end. */
export function tryOf(tool: ToolView, workspace: string, given: Record<string, unknown>): EventBody[] {
  const { tool_id: id, user_facing_name: title } = tool.record.identity;
  const call = `call_try_${id}`;
  const target =
    typeof given['path'] === 'string' ? given['path'] : typeof given['command'] === 'string' ? given['command'] : '';
  const waits = tool.mode !== 'read';
  const trail = {
    verdict: waits ? ('ask' as const) : ('allow' as const),
    lead: waits ? 'Needs approval: it runs on your machine, and no rule allows it.' : 'Allowed: it only reads.',
    otherwise: '',
    steps: [],
  };
  const begun: EventBody[] = [
    { type: 'session_opened', title: `Try ${id}`, workspace, model: { provider: 'try', model: '' } },
    { type: 'call_proposed', call: { id: call, name: id, arguments: given }, message: 'msg_try', reasoning: null },
    {
      type: 'call_judged',
      call,
      tool: id,
      title,
      target,
      mode: tool.mode,
      kind: tool.kind,
      trail,
      preview: { type: 'nothing' },
      undo: { type: 'not_needed' },
    },
  ];
  if (waits)
    return [...begun, { type: 'call_waiting', call, digest: 'd1', grants: [], refreshed: null, expires_at: null }];
  const outcome = {
    state: 'done',
    text: '1\tfirst line',
    message: '1 line',
    duration_ms: 2,
    needs_followup: false,
    terminal: false,
    digest: 'd2',
  } as const;
  return [
    ...begun,
    { type: 'call_started', call },
    { type: 'call_ended', call, outcome },
    { type: 'session_changed', state: 'done' },
  ];
}
