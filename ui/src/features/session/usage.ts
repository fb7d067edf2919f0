// What a session has used, as far as it is told: tokens, cost, and context.

import type { SessionView } from '../../ipc/bindings';
import { brief, count } from '../../widgets/figures';

/** One kind of use. */
export interface UsageLine {
  name: 'Tokens' | 'Cost' | 'Context';
  text: string;
}

/** How much of its context a session uses, in percent; null where that is not told. */
export function contextPercent({ context }: SessionView): number | null {
  return context && context.size > 0 ? Math.round((100 * context.used) / context.size) : null;
}

/** Lists what a session has used; empty where nothing is told. */
export function usageLines(session: SessionView): UsageLine[] {
  const { usage, context } = session;
  const percent = contextPercent(session);
  const lines: UsageLine[] = [];
  if (usage.input_tokens + usage.output_tokens > 0) {
    const read = `${count(usage.input_tokens)} read, ${count(usage.cached_tokens)} of them cached`;
    lines.push({ name: 'Tokens', text: `${read}; ${count(usage.output_tokens)} written` });
  }
  if (usage.cost_usd !== null) lines.push({ name: 'Cost', text: `$${usage.cost_usd.toFixed(4)}` });
  if (context && percent !== null)
    lines.push({ name: 'Context', text: `${brief(context.used)} of ${brief(context.size)} tokens, ${percent}%` });
  return lines;
}
