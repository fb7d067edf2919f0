// The menu of a waiting card.

import type { CallView, DiffLayout } from '../../../ipc/bindings';
import type { MenuItem } from '../../../widgets/Menu.svelte';
import { runChoices, type RunChoice } from '../words';

const ways: Record<RunChoice, MenuItem> = {
  network: { id: 'network', text: 'Run with the network…', icon: 'net', key: 'W' },
  in_place: { id: 'in_place', text: 'Run in place…', icon: 'play', key: 'R' },
};

/** The lines of the menu. */
export function moreItems(view: Pick<CallView, 'preview'>, layout: DiffLayout): MenuItem[] {
  return [
    { id: 'edit', text: 'Edit the arguments', icon: 'edit', key: 'E' },
    { id: 'note', text: 'Write a note', icon: 'question' },
    ...(view.preview.type === 'diff' || view.preview.type === 'effects'
      ? [
          {
            id: 'layout',
            text: layout === 'split' ? 'Show as one column' : 'Show side by side',
            icon: 'panel',
            key: 'D',
          } as const,
        ]
      : []),
    ...runChoices(view).map((way) => ways[way]),
    { id: 'copy', text: 'Copy the arguments', icon: 'copy' },
    { id: 'inspect', text: 'Why was I asked?', icon: 'info', key: 'I' },
  ];
}
