// Briefings in words. Pure.

import type { Source } from '../../ipc/bindings/Source';

/** Where a skill or an agent comes from. */
export const sources: Record<Source, string> = {
  project: 'project',
  person: 'yours',
  configured: 'from settings',
  house: 'built in',
};

/** Tells whether the texts hold every word of a filter. */
export function fits(filter: string, ...texts: readonly string[]): boolean {
  const all = texts.join(' ').toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}
