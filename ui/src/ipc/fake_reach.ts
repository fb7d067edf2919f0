// A session that gave work to agents, and a call whose server asks: for looking, while developing.

import type { DisplaySpan, EventBody, ParentCall, ServerRequestKind, ToolKind, ToolMode } from './bindings';

interface Stage {
  emit(session: string, ...bodies: EventBody[]): void;
}
const plain = (text: string): DisplaySpan[] => [{ text, control: false }];
const opened = (title: string, parent?: ParentCall): EventBody => ({
  type: 'session_opened',
  title,
  workspace: '/home/mira/code/tidemark',
  model: { provider: 'anthropic', model: 'claude-sonnet-5' },
  ...(parent && { parent }),
});
const trail = {
  verdict: 'ask' as const,
  lead: 'Needs approval: nothing says what kind of call this is.',
  otherwise: '',
  steps: [],
};
const call = (
  id: string,
  tool: string,
  title: string,
  target: string,
  given: Record<string, unknown>,
  mode: ToolMode | null = 'read',
  kind: ToolKind = 'read',
): EventBody[] => [
  { type: 'call_proposed', call: { id, name: tool, arguments: given }, message: `msg_${id}`, reasoning: null },
  {
    type: 'call_judged',
    call: id,
    tool,
    title,
    target,
    mode,
    kind,
    trail,
    preview: { type: 'nothing' },
    undo: { type: 'not_needed' },
  },
];
const started = (id: string): EventBody => ({ type: 'call_started', call: id });
const ended = (id: string): EventBody => ({
  type: 'call_ended',
  call: id,
  outcome: {
    state: 'done',
    text: 'found',
    message: '188 lines',
    duration_ms: 41,
    needs_followup: false,
    terminal: false,
    digest: 'd',
  },
});
const waits = (id: string): EventBody => ({
  type: 'call_waiting',
  call: id,
  digest: `d_${id}`,
  grants: [{ button: 'Allow', reach: 'once', text: 'lets this one call run.' }],
  refreshed: null,
  expires_at: null,
});

/** Everything that a server may ask. */
const asks: Record<string, ServerRequestKind> = {
  form: {
    type: 'form',
    fields: [
      {
        name: 'repository',
        title: plain('Repository'),
        description: plain('Where the issue goes.'),
        required: true,
        kind: { type: 'text', format: null, chars_min: 1, chars_max: 80, default: 'tidemark/core' },
      },
      {
        name: 'api_key',
        title: plain('API key'),
        description: [],
        required: false,
        kind: { type: 'text', format: null, chars_min: null, chars_max: null, default: null },
        warning: 'This seems to ask for a secret, which no server should do by a form. Leave it empty, or decline.',
      },
      {
        name: 'weight',
        title: plain('Weight'),
        description: [],
        required: true,
        kind: { type: 'number', integer: true, min: 1, max: 9, default: 3 },
      },
      {
        name: 'private',
        title: plain('Private'),
        description: [],
        required: false,
        kind: { type: 'boolean', default: null },
      },
      {
        name: 'labels',
        title: plain('Labels'),
        description: [],
        required: true,
        kind: {
          type: 'choices',
          options: ['bug', 'parser', 'docs'].map((value) => ({ value, title: plain(value) })),
          items_min: 1,
          items_max: 2,
          default: ['bug'],
        },
      },
    ],
  },
  address: {
    type: 'address',
    url: 'https://auth.chat.example/authorize?client_id=countersign&state=f3a9',
    host: 'auth.chat.example',
    warnings: [],
  },
  model: {
    type: 'model',
    model: { provider: 'anthropic', model: 'claude-sonnet-5' },
    system: plain('Be brief.'),
    messages: [
      { by_model: false, text: plain('Sum up these 12 issues in one line each:\n\n1. Unary minus binds too weakly.') },
    ],
    tokens_max: 1_000,
    temperature: null,
  },
};

/** Lets all of it happen. */
export function reach(host: Stage): void {
  host.emit(
    'ses_top',
    opened('Upgrade axum to 0.8'),
    { type: 'person_said', message: 'm1', text: 'Upgrade axum, and have the change reviewed.', steering: false },
    { type: 'session_changed', state: 'running' },
    ...call(
      'c_task',
      'task',
      'Task',
      'reviewer: look at the change',
      { subagent_type: 'reviewer', prompt: 'Look at the change.' },
      'external',
      'other',
    ),
    started('c_task'),
  );
  host.emit(
    'ses_mid',
    opened('Look at the change', { session: 'ses_top', call: 'c_task' }),
    { type: 'session_changed', state: 'running' },
    ...call('c_1', 'read', 'Read', 'src/router.rs', { path: 'src/router.rs' }),
    started('c_1'),
    ended('c_1'),
    ...call('c_2', 'read', 'Read', 'src/main.rs', { path: 'src/main.rs' }),
    started('c_2'),
    ended('c_2'),
    ...call('c_low', 'task', 'Task', 'general: count the handlers', {}, 'external', 'other'),
    started('c_low'),
  );
  host.emit(
    'ses_low',
    opened('Count the handlers', { session: 'ses_mid', call: 'c_low' }),
    { type: 'session_changed', state: 'running' },
    ...call('c_tool', 'tracker__get_issue', 'Issue', '482', { number: 482 }, null, 'other'),
    waits('c_tool'),
  );
  for (const [name, wants] of Object.entries(asks)) {
    host.emit(
      `ses_${name}`,
      opened(`A server asks: ${name}`),
      ...call(
        `c_${name}`,
        'chat__send_message',
        'send_message',
        'general',
        { channel: 'general', text: 'The parser is mended.' },
        null,
        'other',
      ),
      started(`c_${name}`),
      {
        type: 'server_request_received',
        call: `c_${name}`,
        request_id: `ask_${name}`,
        request: { server: 'chat', message: plain('To file the issue I need a few facts.'), wants },
        expires_at: null,
      },
    );
  }
}
