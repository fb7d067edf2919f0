// What is known of the keys of providers, and of the system keychain. Pure.

import type { ProviderView } from '../../ipc/bindings';

/** Tells whether a key can be kept on this machine, as far as its keychain was asked. */
export function canKeepKeys(providers: readonly ProviderView[]): boolean {
  return providers.every(({ key }) => key.can_be_kept);
}

/** Tells whether a provider is not ready because of its key: it has none, or the one it has was refused. */
export function lacksKey({ ready, key }: ProviderView): boolean {
  return !ready && (key.state === 'missing' || key.state === 'refused');
}
