// Describes a provider in one line. Pure.

import type { ProviderView } from '../../ipc/bindings';

/** Sorts the ready providers first, each part in its order. */
export function readyFirst(providers: readonly ProviderView[]): ProviderView[] {
  return [...providers.filter(({ ready }) => ready), ...providers.filter(({ ready }) => !ready)];
}

/** Shortens a note to a few words, "No key", "Not running"; the rest is shown once the provider is chosen. */
export function inShort(note: string): string {
  const first = note.split(/[.;](?:\s|$)/, 1)[0] ?? '';
  return first.replace(/ at https?:\S+$/, '');
}
