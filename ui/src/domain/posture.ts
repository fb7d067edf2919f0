// Postures: what asks, in the words of the interface.

import type { Posture, Settings } from '../ipc/bindings';

/** A posture, its name, and what it means in one sentence. */
interface PostureWords {
  value: Posture;
  text: string;
  hint: string;
  /** How many harmless calls of sample days it stopped (docs/attention.md). */
  sample: string;
}
const askFirst: PostureWords = {
  value: 'ask_first',
  text: 'Ask first',
  hint: 'A command asks before it runs. You approve its text.',
  sample: 'On a sample day 8 in 10 harmless calls waited or were denied.',
};
/** The postures, from the one that asks most to the one that asks nothing. */
export const postures: readonly PostureWords[] = [
  askFirst,
  {
    value: 'ask_about_effects',
    text: 'Ask about effects',
    hint: 'A command runs in a sandbox first. What only changes files here, and can be undone, passes. The rest asks.',
    sample: 'On two sample days 2 in 100 harmless calls waited or were denied.',
  },
  {
    value: 'unattended',
    text: 'Unattended',
    hint: 'The same, and nothing asks: what would is denied, and the agent finds another way.',
    sample: 'On two sample days 2 in 100 harmless calls were denied.',
  },
];

/** The posture that a first start proposes. */
export const recommended: Posture = 'ask_about_effects';

/** The words of a posture. */
export const postureOf = (posture: Posture): PostureWords =>
  postures.find(({ value }) => value === posture) ?? askFirst;

/** The posture in force in a folder. */
export function postureIn(settings: Settings, folder: string): Posture {
  return settings.folder_postures?.[folder] ?? settings.posture ?? 'ask_first';
}

/** The postures of the folders, with another one for this folder. */
export function withFolderPosture(settings: Settings, folder: string, posture: Posture): Settings['folder_postures'] {
  const others = Object.entries(settings.folder_postures ?? {}).filter(([path]) => path !== folder);
  // The posture for everywhere needs no entry.
  const own = posture === (settings.posture ?? 'ask_first') ? [] : [[folder, posture] as const];
  return Object.fromEntries([...others, ...own]);
}
