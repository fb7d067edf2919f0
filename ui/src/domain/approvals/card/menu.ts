// The menu of a waiting card.

import type { CallView, DiffLayout } from '../../../ipc/bindings';
import type { Keymap } from '../../../state/keymap/keymap';
import type { MenuItem } from '../../../widgets/Menu.svelte';
import { runChoices, type RunChoice } from '../words';

const ways: Record<RunChoice, MenuItem> = {
  network: { id: 'network', text: 'Run with the network…', icon: 'net' },
  in_place: { id: 'in_place', text: 'Run in place…', icon: 'play' },
};

/** The lines of the menu. */
export function moreItems(view: Pick<CallView, 'preview'>, layout: DiffLayout, keymap: Keymap): MenuItem[] {
  return [
    { id: 'edit', text: 'Edit the arguments', icon: 'edit', key: keymap.keyOf('edit') },
    { id: 'note', text: 'Write a note', icon: 'question' },
    ...(view.preview.type === 'diff' || view.preview.type === 'effects'
      ? [
          {
            id: 'layout',
            text: layout === 'split' ? 'Show as one column' : 'Show side by side',
            icon: 'panel',
            key: keymap.keyOf('layout'),
          } as const,
        ]
      : []),
    ...runChoices(view).map((way) => ({ ...ways[way], key: keymap.keyOf(way) })),
    { id: 'copy', text: 'Copy the arguments', icon: 'copy' },
    { id: 'inspect', text: 'Why was I asked?', icon: 'info', key: keymap.keyOf('inspector') },
  ];
}
