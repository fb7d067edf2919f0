// A server of tools for the stories: what it says of one of them stands in the file that it is given.
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [described] = process.argv.slice(2);
const told = () => (existsSync(described) ? readFileSync(described, 'utf8').trim() : 'Keeps a note.');
const text = { type: 'string', description: 'What is to be kept.' };
const tools = () => [
  { name: 'keep', description: told(), inputSchema: { type: 'object', properties: { text }, required: ['text'] }, annotations: { destructiveHint: false } },
  { name: 'list', description: 'Lists the notes that were kept.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true, openWorldHint: false } },
];
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'notes', version: '1.2.0' } }),
  'tools/list': () => ({ tools: tools() }),
  'tools/call': (params) => ({ content: [{ type: 'text', text: params.name === 'keep' ? `Kept: ${params.arguments.text}` : 'No notes.' }] }),
  ping: () => ({}),
};
console.error('notes: reading what it says from a file');
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const outcome = answer ? { result: answer(params) } : { error: { code: -32601, message: `no ${method} here` } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
}
