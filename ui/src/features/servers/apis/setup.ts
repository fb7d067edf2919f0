// The setup of a service as it is typed: its problems, and the saved settings. Pure.

import type { ApiAuth, ApiSettings, ApiSetup } from '../../../ipc/bindings';
import {
  audienceIn,
  idProblem,
  millisecondsIn,
  named,
  pairsIn,
  pairsProblem,
  SECONDS,
  secondsProblem,
  secretOf,
  type Pair,
} from '../setup';
import type { DraftAudience } from '../words';
import { isAddress } from './words';

/** Credentials for one of the document's security schemes. */
export interface Who {
  scheme: string;
  as: ApiAuth['type'];
  /** The name, or the client's id; none for a key. */
  name: string;
  /** The key, the password, or the client's secret. */
  secret: string;
}

/** Text in the fields. Tags, operations and paths are separated by commas. */
export interface Draft {
  id: string;
  document: string;
  followFiles: boolean;
  baseUrl: string;
  tags: string;
  operations: string;
  paths: string;
  headers: Pair[];
  variables: Pair[];
  who: Who[];
  seconds: string;
  audience: DraftAudience;
}

/** Problem of each field, in one sentence that says what to do. */
export type Problems = Partial<
  Record<'id' | 'document' | 'baseUrl' | 'headers' | 'variables' | 'who' | 'seconds', string>
>;

const listed = (text: string): string[] =>
  text
    .split(/[,\n]/)
    .map((one) => one.trim())
    .filter(Boolean);

/** A setup as fields; empty ones for none. */
export function draftOf(settings: ApiSettings | null): Draft {
  const setup = settings?.setup;
  return {
    id: settings?.id ?? '',
    document: setup?.document ?? '',
    followFiles: setup?.follow_files ?? false,
    baseUrl: setup?.base_url ?? '',
    tags: setup?.tags.join(', ') ?? '',
    operations: setup?.operations.join(', ') ?? '',
    paths: setup?.paths.join(', ') ?? '',
    headers: pairsIn(setup?.headers ?? {}),
    variables: pairsIn(setup?.variables ?? {}),
    who: Object.entries(setup?.auth ?? {}).flatMap(([scheme, auth]) => (auth ? [whoOf(scheme, auth)] : [])),
    seconds: String((setup?.timeout_ms || SECONDS.usual * 1_000) / 1_000),
    audience: setup?.audience ?? 'unsaid',
  };
}
function whoOf(scheme: string, auth: ApiAuth): Who {
  switch (auth.type) {
    case 'token':
      return { scheme, as: 'token', name: '', secret: auth.token };
    case 'basic':
      return { scheme, as: 'basic', name: auth.username, secret: auth.password };
    case 'client':
      return { scheme, as: 'client', name: auth.client_id, secret: auth.client_secret };
  }
}
function authOf({ as, name, secret }: Who): ApiAuth {
  switch (as) {
    case 'token':
      return { type: 'token', token: secret };
    case 'basic':
      return { type: 'basic', username: name, password: secret };
    case 'client':
      return { type: 'client', client_id: name, client_secret: secret };
  }
}

/** Finds the problems; `others` holds the names of the other services and of the servers. */
export function problemsOf(draft: Draft, others: readonly string[]): Problems {
  const problems: Problems = {};
  const put = (name: keyof Problems, problem: string) => {
    if (problem !== '') problems[name] = problem;
  };
  put('id', idProblem(draft.id, others));
  const document = draft.document.trim();
  if (document === '') put('document', 'Say where its document is.');
  else if (isAddress(document) ? !URL.canParse(document) : !/^(\/|[A-Za-z]:[\\/])/.test(document))
    put('document', 'Write an address with https://, or the whole path of a file.');
  const base = draft.baseUrl.trim();
  if (base !== '' && (!isAddress(base) || !URL.canParse(base)))
    put('baseUrl', 'Write it like https://api.example.org/v1, or leave it empty.');
  put('headers', pairsProblem(draft.headers, true));
  put('variables', variablesProblem(draft.variables));
  const schemes = draft.who.map((one) => one.scheme.trim());
  if (
    draft.who.some(
      (one) => one.scheme.trim() === '' || one.secret === '' || (one.as !== 'token' && one.name.trim() === ''),
    )
  )
    put('who', 'Fill in all of it, or take it out.');
  else if (new Set(schemes).size < schemes.length) put('who', 'A scheme is there twice.');
  put('seconds', secondsProblem(draft.seconds));
  return problems;
}
/** Returns the problem of variables of addresses: addresses are shown, so variables refer to nothing. */
function variablesProblem(variables: readonly Pair[]): string {
  const problem = pairsProblem(variables, false);
  const given = variables.filter((pair) => pair.name.trim() !== '');
  if (problem !== '') return problem;
  if (given.some((pair) => pair.value === '')) return 'A variable has no value.';
  return given.some((pair) => secretOf(pair.value) !== null || pair.value.includes('${'))
    ? 'Write the value of a variable itself: addresses are shown, so they hold no secrets.'
    : '';
}

/** Builds the settings from fields that have no problem. */
export function setupOf(draft: Draft): ApiSetup {
  const timeout_ms = millisecondsIn(draft.seconds);
  return {
    document: draft.document.trim(),
    follow_files: draft.followFiles && !isAddress(draft.document),
    base_url: draft.baseUrl.trim() || null,
    variables: named(draft.variables),
    headers: named(draft.headers),
    auth: Object.fromEntries(draft.who.map((one) => [one.scheme.trim(), authOf(one)])),
    tags: listed(draft.tags),
    operations: listed(draft.operations),
    paths: listed(draft.paths),
    timeout_ms: timeout_ms === SECONDS.usual * 1_000 ? 0 : timeout_ms,
    ...audienceIn(draft),
  };
}
