// The setup of a server as it is typed: its problems, and the saved settings. Pure.

import { msg } from '../../widgets/msg';
import type { Audience, ServerSandbox, ServerSettings, ServerTransport } from '../../ipc/bindings';
import type { DraftAudience } from './words';

/** A variable or a header. */
export interface Pair {
  name: string;
  value: string;
}

/** The fields as they are typed. */
export interface Draft {
  id: string;
  as: 'stdio' | 'http';
  /** The program and its arguments in one line, as in a shell. */
  command: string;
  folder: string;
  /** The one folder that the server may change, in its sandbox; empty where it runs as the person. */
  sandbox: string;
  /** The hosts that it may reach from there, in one line. */
  hosts: string;
  url: string;
  env: Pair[];
  headers: Pair[];
  /** Countersign's client id at the authorization server, and its secret; empty for values that are not given. */
  clientId: string;
  clientSecret: string;
  seconds: string;
  audience: DraftAudience;
}

/** Problem of each field, in one sentence that says what to do. */
export type Problems = Partial<
  Record<'id' | 'command' | 'folder' | 'sandbox' | 'url' | 'pairs' | 'client' | 'seconds', string>
>;

/** How long a server may take unless somebody says otherwise, and at most, in seconds. */
export const SECONDS = { usual: 30, max: 600 };
const ID_CHARS_MAX = 32;
const KEYCHAIN = 'keychain:';

/** Named values, one by one; and what of them is saved. */
export const pairsIn = (of: Record<string, string | undefined>): Pair[] =>
  Object.entries(of).map(([name, value]) => ({ name, value: value ?? '' }));
export const named = (of: readonly Pair[]): Record<string, string> =>
  Object.fromEntries(of.filter((pair) => pair.name.trim() !== '').map((pair) => [pair.name.trim(), pair.value]));

/** A setup as fields; empty ones for none. */
export function draftOf(settings: ServerSettings | null): Draft {
  const transport = settings?.transport;
  return {
    id: settings?.id ?? '',
    as: transport?.type ?? 'stdio',
    command: transport?.type === 'stdio' ? joined([transport.command, ...transport.args]) : '',
    folder: transport?.type === 'stdio' ? (transport.folder ?? '') : '',
    sandbox: (transport?.type === 'stdio' && transport.sandbox?.workspace) || '',
    hosts: (transport?.type === 'stdio' && transport.sandbox?.hosts.join(' ')) || '',
    url: transport?.type === 'http' ? transport.url : '',
    env: transport?.type === 'stdio' ? pairsIn(transport.env) : [],
    headers: transport?.type === 'http' ? pairsIn(transport.headers) : [],
    clientId: (transport?.type === 'http' && transport.client?.id) || '',
    clientSecret: (transport?.type === 'http' && transport.client?.secret) || '',
    seconds: String((settings?.timeout_ms ?? SECONDS.usual * 1_000) / 1_000),
    audience: settings?.audience ?? 'unsaid',
  };
}

/** The words of a line as a shell would take them apart; none where a quote is not closed. Nothing is looked up in them. */
export function wordsOf(line: string): string[] | null {
  const words: string[] = [];
  let word = '';
  let began = false;
  let quote = '';
  for (let i = 0; i < line.length; i += 1) {
    const c = line[i] ?? '';
    const next = line[i + 1];
    if (quote === '' && /\s/.test(c)) {
      if (began) words.push(word);
      [word, began] = ['', false];
      continue;
    }
    began = true;
    if (
      c === '\\' &&
      quote !== "'" &&
      next !== undefined &&
      (quote === '' ? /[\s"'\\]/.test(next) : /["\\]/.test(next))
    ) {
      word += next;
      i += 1;
    } else if (quote === '' && (c === '"' || c === "'")) quote = c;
    else if (c === quote) quote = '';
    else word += c;
  }
  if (quote !== '') return null;
  if (began) words.push(word);
  return words;
}

/** Words as one line that is taken apart into the same words. */
export function joined(words: readonly string[]): string {
  return words
    .map((word) => (word !== '' && !/[\s"'\\]/.test(word) ? word : `"${word.replace(/["\\]/g, '\\$&')}"`))
    .join(' ');
}

/** The secret of the keychain that a value refers to; none for any other value. */
export function secretOf(value: string): string | null {
  return value.startsWith(KEYCHAIN) && value.length > KEYCHAIN.length ? value.slice(KEYCHAIN.length) : null;
}

/** A value that refers to a secret of the keychain. */
export const refersTo = (secret: string): string => `${KEYCHAIN}${secret}`;

/** Tells whether a secret stands there in plain text. */
export const isBare = (secret: string): boolean =>
  secret.trim() !== '' && secretOf(secret) === null && !secret.includes('${');

/** Tells whether a value looks like a secret that stands there in plain text. */
export function isBareSecret({ name, value }: Pair): boolean {
  const named = /token|secret|passw|api[-_]?key|credential|authorization|cookie|private[-_]?key/i.test(name);
  return isBare(value) && (named || /^(bearer |basic |gh[pousr]_|sk-|xox[abp]-|glpat-)/i.test(value));
}

/** Under which name the keychain is to hold a value. */
export const secretName = (id: string, { name }: Pair): string => [id.trim(), name.trim()].filter(Boolean).join('-');

/** Returns the problem of a name; `others` are taken. Empty if there is none. */
export function idProblem(text: string, others: readonly string[]): string {
  const id = text.trim();
  if (id === '') return 'Give it a short name.';
  if (id.length > ID_CHARS_MAX || !/^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$/.test(id))
    return `Use 1 to ${ID_CHARS_MAX} letters, digits, - and single _ alone.`;
  return others.includes(id) ? `“${id}” is there already. Choose another name.` : '';
}

/** Returns the problem of headers, or of variables; empty if there is none. */
export function pairsProblem(pairs: readonly Pair[], headers: boolean): string {
  const names = pairs.map((pair) => (headers ? pair.name.trim().toLowerCase() : pair.name.trim()));
  const shape = headers ? /^[!#$%&'*+.^_`|~0-9A-Za-z-]*$/ : /^[^=\0\s]*$/;
  const odd = pairs.find((pair) => !shape.test(pair.name.trim()));
  const twice = names.find((name, i) => name !== '' && names.indexOf(name) !== i);
  if (pairs.some((pair) => pair.name.trim() === '' && pair.value !== '')) return 'A value has no name.';
  if (odd) return `“${odd.name}” is not a ${headers ? msg('header') : msg('variable')} name.`;
  return twice === undefined ? '' : `“${twice}” is there twice.`;
}

/** Finds the problems; `others` holds the names of the other servers. */
export function problemsOf(draft: Draft, others: readonly string[]): Problems {
  const problems: Problems = {};
  const id = idProblem(draft.id, others);
  if (id) problems.id = id;
  if (draft.as === 'stdio') {
    const words = wordsOf(draft.command);
    if (words === null) problems.command = 'A quote is not closed.';
    else if ((words[0] ?? '') === '') problems.command = 'Say which program to start.';
    const [folder, sandbox] = [draft.folder.trim(), draft.sandbox.trim()];
    if (folder !== '' && !isWhole(folder)) problems.folder = 'Write the whole path, or none for your home folder.';
    else if (folder !== '' && sandbox !== '' && !folder.includes('${') && !isBelow(folder, sandbox))
      problems.folder = 'It starts outside its sandbox. Leave this empty: it then starts in the folder of its sandbox.';
    if (sandbox !== '' && !isWhole(sandbox)) problems.sandbox = 'Write the whole path, or none to run it as you.';
    else if (sandbox === '/') problems.sandbox = 'Name the one folder that it may change.';
  } else {
    const url = draft.url.trim();
    if (url === '') problems.url = 'Say where it is reached.';
    else if (!/^https?:\/\/|^\$\{/i.test(url)) problems.url = 'Begin with http:// or https://.';
    else if (!url.includes('${') && !URL.canParse(url))
      problems.url = 'This is not an address. Write it like https://mcp.example.org/mcp.';
  }
  if (draft.as === 'http' && draft.clientId.trim() === '' && draft.clientSecret.trim() !== '')
    problems.client = 'Write the id that the secret belongs to, or take out the secret.';
  const pairs = pairsProblem(pairsOf(draft), draft.as === 'http');
  if (pairs) problems.pairs = pairs;
  const seconds = secondsProblem(draft.seconds);
  if (seconds) problems.seconds = seconds;
  return problems;
}

const isWhole = (path: string): boolean => /^(\/|[A-Za-z]:[\\/])/.test(path);
const isBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder.replace(/\/+$/, '')}/`);

/** The same transport in a sandbox, or in none: it starts in the folder of its sandbox unless it starts in it already. */
export function movedTo(
  transport: Extract<ServerTransport, { type: 'stdio' }>,
  sandbox: ServerSandbox | null,
): ServerTransport {
  const { sandbox: _, ...bare } = transport;
  if (sandbox === null) return bare;
  return {
    ...bare,
    folder: transport.folder !== null && isBelow(transport.folder, sandbox.workspace) ? transport.folder : null,
    sandbox,
  };
}

/** Returns the problem of a time limit; empty if there is none. */
export function secondsProblem(text: string): string {
  const seconds = secondsIn(text);
  return text.trim() === '' || !Number.isFinite(seconds) || seconds < 1 || seconds > SECONDS.max
    ? `Write seconds, 1 to ${SECONDS.max}.`
    : '';
}
const secondsIn = (text: string): number => Number(text.trim().replace(',', '.'));
/** A time limit in milliseconds. */
export const millisecondsIn = (text: string): number => Math.round(secondsIn(text) * 1_000);

/** The variables or the headers, whichever are meant. */
const pairsOf = (draft: Draft): Pair[] => (draft.as === 'http' ? draft.headers : draft.env);

/** What of the audience is saved: nothing where nobody said. */
export const audienceIn = ({ audience }: { audience: DraftAudience }): { audience?: Audience } =>
  audience === 'unsaid' ? {} : { audience };

/** Builds the settings from fields that have no problem. */
export function setupOf(draft: Draft): { transport: ServerTransport; timeout_ms: number; audience?: Audience } {
  const values = named(pairsOf(draft));
  const client = draft.clientId.trim() !== '' && {
    client: { id: draft.clientId.trim(), secret: draft.clientSecret.trim() || null },
  };
  const [command = '', ...args] = wordsOf(draft.command) ?? [];
  const workspace = draft.sandbox.trim();
  const sandbox = workspace !== '' && { sandbox: { workspace, hosts: draft.hosts.split(/[\s,]+/).filter(Boolean) } };
  const transport: ServerTransport =
    draft.as === 'http'
      ? { type: 'http', url: draft.url.trim(), headers: values, ...client }
      : { type: 'stdio', command, args, env: values, folder: draft.folder.trim() || null, ...sandbox };
  return { transport, timeout_ms: millisecondsIn(draft.seconds), ...audienceIn(draft) };
}
