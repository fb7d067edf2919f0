// Web search providers as the person sets them up: words, the problems of the typed text, and the saved settings. Pure.

import type { SearchApi, SearchProviderSettings, SearchProviderView } from '../../ipc/bindings';

/** Name of each provider, and whether it wants a key and an address. */
export const wires: Record<SearchApi, { text: string; keyed: boolean; variable: string; url: string }> = {
  brave: { text: 'Brave', keyed: true, variable: 'BRAVE_API_KEY', url: '' },
  tavily: { text: 'Tavily', keyed: true, variable: 'TAVILY_API_KEY', url: '' },
  exa: { text: 'Exa', keyed: true, variable: 'EXA_API_KEY', url: '' },
  searxng: { text: 'SearXNG', keyed: false, variable: '', url: 'https://searx.example.org/' },
};

/** Every wire, in the order it is shown. */
export const wireNames: readonly SearchApi[] = ['brave', 'tavily', 'exa', 'searxng'];

/** The fields as they are typed. */
export interface Draft {
  wire: SearchApi;
  base_url: string;
  key_env: string;
}

/** Problem of each field. */
export type Problems = Partial<Record<keyof Draft, string>>;

/** An id that no other has: the wire's name, with a number where that is taken. */
export function idOf(wire: SearchApi, others: readonly string[]): string {
  for (let tail = 1; ; tail += 1) {
    const id = tail === 1 ? wire : `${wire}-${tail}`;
    if (!others.includes(id)) return id;
  }
}

/** Returns the problems of a draft. */
export function problemsOf(draft: Draft): Problems {
  const problems: Problems = {};
  const url = draft.base_url.trim();
  if (url === '' && draft.wire === 'searxng') problems.base_url = 'Say where it is reached.';
  else if (url !== '' && !/^https?:\/\//i.test(url)) problems.base_url = 'Begin with http:// or https://.';
  else if (url !== '' && !URL.canParse(url))
    problems.base_url = 'This is not an address. Write it like https://searx.example.org/.';
  const env = draft.key_env.trim();
  if (env !== '' && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(env))
    problems.key_env = 'Write the name of a variable, like BRAVE_API_KEY, not the key.';
  return problems;
}

/** Builds the settings from fields that have no problem. */
export function settingsOf(draft: Draft, others: readonly string[]): SearchProviderSettings {
  const base_url = draft.base_url.trim();
  const key_env = wires[draft.wire].keyed ? draft.key_env.trim() : '';
  return { id: idOf(draft.wire, others), wire: draft.wire, base_url: base_url || null, key_env: key_env || null };
}

/** Returns the name under which the keychain holds the key. */
export const keyName = (id: string): string => `web_search/${id}`;

/** Returns the note below an entry: its state as found, or, while that is not known, its settings. */
export function noteOf(own: SearchProviderSettings, found?: SearchProviderView): string {
  if (found) return [found.note.replace(/\.$/, ''), own.base_url ?? ''].filter(Boolean).join(' · ');
  const { keyed } = wires[own.wire];
  if (!keyed) return own.base_url ?? 'It has no address, so it is not asked.';
  const key = own.key_env ? `Key from ${own.key_env}, else the keychain` : 'Key from the keychain';
  return own.base_url ? `${key} · ${own.base_url}` : key;
}

/** Reads a whole number from 1 on, as it was typed, or returns the problem with it. */
export function countOf(text: string, max: number): { value: number } | { problem: string } {
  const value = Number(text.trim());
  if (text.trim() === '' || !Number.isInteger(value) || value < 1)
    return { problem: 'Write a whole number, at least 1.' };
  return value > max ? { problem: `At most ${max}.` } : { value };
}
