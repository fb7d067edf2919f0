// Briefings in words. Pure.

import { msg } from '../../widgets/msg';
import type { BriefingSource } from '../../ipc/bindings';

/** Origin of a skill or an agent. */
export const sources: Record<BriefingSource, string> = {
  project: msg('project'),
  person: msg('yours'),
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
