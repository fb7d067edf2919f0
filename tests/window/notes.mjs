// A server of tools for the stories: what it says of one of them stands in the file that it is given.
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [described, more] = process.argv.slice(2);
const say = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
const waiting = new Map();
/** Asks the person, or what else it is told to ask, and gives the answer. */
const ask = (params, method = 'elicitation/create') =>
  new Promise((answered) => {
    const id = `ask-${waiting.size + 1}`;
    waiting.set(id, answered);
    say({ id, method, params });
  });
const signing = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your name', description: 'It stands below the notes.', minLength: 2 },
    copies: { type: 'integer', title: 'Copies', minimum: 1, maximum: 9, default: 1 },
    ink: { type: 'string', title: 'Ink', enum: ['black', 'blue'] },
    password: { type: 'string', title: 'Password' },
  },
  required: ['name', 'ink'],
};
const told = () => (existsSync(described) ? readFileSync(described, 'utf8').trim() : 'Keeps a note.');
const text = { type: 'string', description: 'What is to be kept.' };
const tools = () => [
  { name: 'keep', description: told(), inputSchema: { type: 'object', properties: { text }, required: ['text'] }, annotations: { destructiveHint: false } },
  { name: 'list', description: 'Lists the notes that were kept.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true, openWorldHint: false } },
  ...(more === 'asks' ? [{ name: 'sign', description: 'Signs the notes.', inputSchema: { type: 'object' } }, { name: 'share', description: 'Shares the notes with a site.', inputSchema: { type: 'object' } }] : []),
  ...(more === 'writes' ? [{ name: 'entitle', description: 'Finds a title for the notes.', inputSchema: { type: 'object' } }] : []),
];
const prompts = [
  { name: 'weekly', title: 'The notes of a week', description: 'Has the notes of a week told in order.', arguments: [{ name: 'week', description: 'Its number, 1 to 53.', required: true }, { name: 'style', description: 'Short or long.' }] },
  { name: 'tidy', title: 'Tidy up', description: 'Finds notes that say the same.' },
];
const picture = { type: 'image', mimeType: 'image/png', data: 'AQID' };
const written = ({ name, arguments: given }) =>
  name === 'tidy' ? 'Find notes that say the same,\u200b and name them.' : `Tell the notes of week ${given.week} in order, the oldest first.`;
/** Asks for the words of a model. */
async function entitle() {
  const messages = [{ role: 'user', content: { type: 'text', text: 'A title for: water the fern, buy a fern, look after the fern.' } }];
  const { content } = await ask({ messages, systemPrompt: 'Answer in one word.', maxTokens: 20 }, 'sampling/createMessage');
  return content ? `Entitled: ${content.text}` : 'Not entitled.';
}
async function share() {
  const { action } = await ask({ mode: 'url', message: 'Sign in, so that the notes can be shared.', url: 'https://sign-in.notes.example/authorize?client=notes&state=f3a9', elicitationId: 'e1' });
  return action === 'accept' ? 'Shared.' : `Not shared: ${action}.`;
}
const kept = (given) => (given.text === undefined ? 'No notes.' : `Kept: ${given.text}`);
async function sign() {
  const { action, content } = await ask({ mode: 'form', message: 'Who signs the notes?', requestedSchema: signing });
  return action === 'accept' ? `Signed by ${content.name} in ${content.ink}.` : `Not signed: ${action}.`;
}
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {}, prompts: {} }, serverInfo: { name: 'notes', version: '1.2.0' } }),
  'tools/list': () => ({ tools: tools() }),
  'tools/call': async ({ name, arguments: given }) => ({ content: [{ type: 'text', text: name === 'sign' ? await sign() : name === 'share' ? await share() : name === 'entitle' ? await entitle() : kept(given) }] }),
  'prompts/list': () => ({ prompts }),
  'prompts/get': (asked) => ({ messages: [{ role: 'user', content: { type: 'text', text: written(asked) } }, ...(asked.name === 'tidy' ? [{ role: 'user', content: picture }] : [])] }),
  ping: () => ({}),
};
console.error('notes: reading what it says from a file');
/** Answers a request; what is asked meanwhile is answered beside it. */
async function answer({ id, method, params }) {
  const found = answers[method];
  say({ id, ...(found ? { result: await found(params) } : { error: { code: -32601, message: `no ${method} here` } }) });
}
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.method === undefined) waiting.get(message.id)?.(message.result ?? { action: 'cancel' });
  else if (message.id !== undefined) void answer(message);
}
