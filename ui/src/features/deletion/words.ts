// What goes with a deleted session, in words. Pure.

import type { DeletionPreview } from '../../ipc/bindings';
import { bytes, plural } from '../../widgets/figures';

/** What goes: "12 calls, 3 copies for undo (1.2 MB)". */
export function describePreview(preview: DeletionPreview): string {
  const parts = [plural(preview.calls, ['# call', '# calls'])];
  if (preview.sub_agents > 0)
    parts.push(plural(preview.sub_agents, ['# session of a sub-agent', '# sessions of sub-agents']));
  if (preview.undo_entries > 0)
    parts.push(`${plural(preview.undo_entries, ['# copy', '# copies'])} for undo (${bytes(preview.undo_bytes)})`);
  return parts.join(', ');
}
