// What is known of the system keychain, and of the variables that hold keys in its place. Pure.

import type { ProviderSettings, ProviderView } from '../../ipc/bindings';

/** The engine's words for a keychain that it cannot use, which stand in the notes of providers and in refusals. */
const UNUSABLE = 'The system keychain cannot be used here';

/** Tells whether a note or a refusal says that keys cannot be kept on this machine. */
export function saysNoKeychain(text: string): boolean {
  return text.includes(UNUSABLE);
}

/** Tells whether a key can be kept on this machine, as far as the notes of the providers tell. */
export function canKeepKeys(providers: readonly ProviderView[]): boolean {
  return !providers.some(({ note }) => saysNoKeychain(note));
}

/** Tells whether a provider is not ready because of its key: it has none, or the one it has was refused. */
export function lacksKey({ ready, note }: ProviderView): boolean {
  return !ready && /^No key\b|\b(?:refused the key|needs a key)\b/.test(note);
}

/** Returns the environment variable that holds the key of a provider; none if it has none. */
export function variableOf(provider: ProviderView, own: readonly ProviderSettings[]): string | null {
  const entry = own.find(({ id }) => id === provider.id);
  if (entry) return entry.key_env;
  return /(?:environment variable|^key from) ([A-Z_][A-Z0-9_]*)/i.exec(provider.note)?.[1] ?? null;
}
