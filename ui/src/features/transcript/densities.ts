// The densities of a transcript in words.

import type { Density } from '../../state/reading.svelte';

/** The densities, the roomiest first. */
export const densities: readonly { id: Density; text: string; hint: string }[] = [
  { id: 'comfortable', text: 'Comfortable', hint: 'Room between entries' },
  { id: 'compact', text: 'Compact', hint: 'More entries on the screen' },
  { id: 'folded', text: 'Calls folded', hint: 'Finished calls in one line: 9 reads, 3 commands' },
];
