// The modes of calls: one icon and one word each.

import type { ToolMode } from '../ipc/bindings';
import type { IconName } from '../widgets/icons';

/** Icon and text of each mode. */
export const modes: Record<ToolMode, { icon: IconName; text: string }> = {
  read: { icon: 'm-read', text: 'Read' },
  safe_write: { icon: 'm-safe', text: 'Safe write' },
  destructive: { icon: 'm-destructive', text: 'Destructive' },
  local: { icon: 'm-local', text: 'Local' },
  external: { icon: 'm-external', text: 'External' },
};
