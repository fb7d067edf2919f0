// The files that a session is exported to. Pure.

import type { ExportFormat } from '../ipc/desk';

/** The formats, each as a menu names it. */
export const exportFormats: readonly { format: ExportFormat; text: string; hint: string }[] = [
  { format: 'md', text: 'Export as Markdown…', hint: 'To read and to edit' },
  { format: 'html', text: 'Export as HTML…', hint: 'One page that loads nothing' },
  { format: 'jsonl', text: 'Export as JSON Lines…', hint: 'Every event' },
];
