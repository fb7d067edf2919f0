// Calls of tools that servers bring, and what their results tell of others: for the gallery page.

import type {
  ServerAnswer,
  ServerAnswerRecord,
  ServerRequestKind,
  ServerRequestView,
  ToolView,
  Usage,
} from '../ipc/bindings';
import { toolView } from '../ipc/fake_tools';
import { entry, NOW, outcome, waiting } from './sample_calls';

const plain = (text: string) => [{ text, control: false }];

/** A request that a server made while its tool ran, answered. */
function asked(
  id: string,
  wants: ServerRequestKind,
  answer: ServerAnswer,
  more: Partial<ServerAnswerRecord> = {},
): ServerRequestView {
  return {
    id,
    request: { server: 'chat', message: plain('Where does it go?'), wants },
    at: NOW - 50_000,
    expires_at: null,
    answered: { answer, at: NOW - 40_000, ...more },
  };
}
const form: ServerRequestKind = { type: 'form', fields: [] };
const address: ServerRequestKind = {
  type: 'address',
  url: 'https://chat.example/join',
  host: 'chat.example',
  warnings: [],
};
const model: ServerRequestKind = {
  type: 'model',
  model: { provider: 'anthropic', model: 'claude-haiku-5' },
  system: [],
  messages: [],
  tokens_max: 200,
  temperature: null,
};

const lookedUp = { name: plain('look_up'), arguments: plain('{"channel":"general"}') };
const usage: Usage = { input_tokens: 120, cached_tokens: 0, output_tokens: 9, cost_usd: null };

const send = {
  tool: 'chat__send_message',
  title: 'send_message (chat)',
  kind: 'other',
  mode: 'external',
  target: 'general',
  call: { id: 'c', name: 'chat__send_message', arguments: { channel: 'general', dueDate: '2026-11-24' } },
  preview: { type: 'nothing' },
  undo_availability: { type: 'not_needed' },
} as const;

const tool = toolView('chat__send_message', 'send_message (chat)', 'Sends a message.', {
  type: 'object',
  properties: {
    channel: { type: 'string', description: 'Where it is read.' },
    dueDate: { type: 'string', title: 'Due date' },
  },
});
tool.record.identity.native_ids = { 'mcp.server': 'chat', 'mcp.tool': 'send_message' };

/** The tools of the samples. */
export const serverTools: readonly ToolView[] = [tool];

/** Every sample, by what it shows. */
export const serverSamples = {
  toolOfAServer: waiting('c_server_tool', send),
  requestsOfAServer: entry('c_asked', {
    ...send,
    outcome: outcome({ message: 'Sent.' }),
    server_requests: [
      asked('r1', form, { type: 'filled', values: { channel: 'general', urgent: true } }),
      asked('r2', address, { type: 'opened' }),
      asked(
        'r3',
        model,
        { type: 'allowed' },
        { sampled: { model: 'claude-haiku-5', text: 'A short greeting.', calls: [lookedUp], usage } },
      ),
      asked('r4', form, { type: 'declined' }),
      asked('r5', form, { type: 'dismissed' }, { why: 'Nobody answered in time.' }),
    ],
  }),
  sourcesOfAResult: entry('c_sources', {
    tool: 'web_search',
    title: 'Search the web',
    kind: 'fetch',
    mode: 'external',
    target: 'unary minus precedence',
    preview: { type: 'nothing' },
    outcome: outcome({
      message: '2 results',
      data: {
        results: [
          { title: 'Operator precedence', url: 'https://docs.example/precedence' },
          { title: '', url: 'https://xn--pypal-4ve.example/login' },
        ],
      },
    }),
  }),
};
