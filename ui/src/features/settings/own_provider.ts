// A provider of the person's own, as it is typed: its problems, and the saved settings. Pure.

import type { ProviderSettings, WireFormat } from '../../ipc/bindings';

/** The fields as they are typed. */
export interface Draft {
  wire: WireFormat;
  title: string;
  id: string;
  base_url: string;
  key_env: string;
  input: string;
  output: string;
}

/** Problem of each field, in one sentence that says what to do. */
export type Problems = Partial<Record<keyof Draft, string>>;

/** The wire formats by the names of their makers. */
export const wires: readonly { value: WireFormat; text: string }[] = [
  { value: 'openai', text: 'OpenAI-compatible' },
  { value: 'anthropic', text: 'Anthropic' },
  { value: 'gemini', text: 'Gemini' },
  { value: 'ollama', text: 'Ollama' },
];

/** Usual address of each. */
export const usualUrl: Record<WireFormat, string> = {
  openai: 'http://127.0.0.1:1234/v1/',
  anthropic: 'https://llm.example.org/anthropic/v1/',
  gemini: 'https://llm.example.org/gemini/v1beta/',
  ollama: 'http://192.168.1.20:11434/',
};

/** Servers that many people have, to begin with. */
export const examples: readonly Pick<Draft, 'title' | 'id' | 'base_url' | 'key_env'>[] = [
  { title: 'LM Studio', id: 'lmstudio', base_url: 'http://127.0.0.1:1234/v1/', key_env: '' },
  { title: 'vLLM', id: 'vllm', base_url: 'http://127.0.0.1:8000/v1/', key_env: '' },
  {
    title: 'OpenRouter, second key',
    id: 'openrouter-2',
    base_url: 'https://openrouter.ai/api/v1/',
    key_env: 'OPENROUTER_API_KEY_2',
  },
];

/** Ids that belong to the app, as the engine has them. */
const RESERVED: ReadonlySet<string> = new Set([
  'anthropic',
  'openai',
  'gemini',
  'ollama',
  'openrouter',
  'demo',
  'script',
]);

/** An entry as fields; an empty one for none. */
export function draftOf(own: ProviderSettings | null): Draft {
  return {
    wire: own?.wire ?? 'openai',
    title: own?.title ?? '',
    id: own?.id ?? '',
    base_url: own?.base_url ?? '',
    key_env: own?.key_env ?? '',
    input: own?.input_usd_per_mtok?.toString() ?? '',
    output: own?.output_usd_per_mtok?.toString() ?? '',
  };
}

/** An id made of a name: "LM Studio" gives "lm-studio". */
export function idOf(title: string): string {
  return title
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
}

/** Finds the problems; `others` holds the ids of the other entries. */
export function problemsOf(draft: Draft, others: readonly string[]): Problems {
  const problems: Problems = {};
  const id = draft.id.trim();
  if (draft.title.trim() === '') problems.title = 'Give it a name.';
  if (id === '') problems.id = 'Give it a short id.';
  else if (!/^[a-z0-9][a-z0-9._-]*$/.test(id)) problems.id = 'Use small letters, digits, - and _ alone.';
  else if (RESERVED.has(id)) problems.id = `“${id}” is built in. Choose another id.`;
  else if (others.includes(id)) problems.id = `“${id}” is there already. Choose another id.`;
  const url = urlProblem(draft.base_url.trim());
  if (url) problems.base_url = url;
  const env = draft.key_env.trim();
  if (env !== '' && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(env))
    problems.key_env = 'Write the name of a variable, like MY_API_KEY, not the key.';
  const prices = (['input', 'output'] as const).filter((name) => draft[name].trim() !== '');
  for (const name of prices) if (dollars(draft[name]) === null) problems[name] = 'Write dollars, like 0.25.';
  if (prices.length === 1) problems[prices[0] === 'input' ? 'output' : 'input'] = 'Set both prices, or none.';
  return problems;
}

function urlProblem(text: string): string | null {
  if (text === '') return 'Say where it is reached.';
  if (!/^https?:\/\//i.test(text)) return 'Begin with http:// or https://.';
  if (!URL.canParse(text)) return 'This is not an address. Write it like http://127.0.0.1:1234/v1/.';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || url.search !== '')
    return 'Leave out user, password and query. A key belongs under Key….';
  return null;
}

/** Reads dollars as a number; none for text that is no amount. */
function dollars(text: string): number | null {
  const amount = Number(text.trim().replace(',', '.').replace(/^\$/, ''));
  return text.trim() !== '' && Number.isFinite(amount) && amount >= 0 ? amount : null;
}

/** Builds the settings from fields that have no problem. */
export function settingsOf(draft: Draft): ProviderSettings {
  return {
    id: draft.id.trim(),
    title: draft.title.trim(),
    wire: draft.wire,
    base_url: draft.base_url.trim().replace(/\/*$/, '/'),
    key_env: draft.key_env.trim() || null,
    input_usd_per_mtok: dollars(draft.input),
    output_usd_per_mtok: dollars(draft.output),
  };
}
