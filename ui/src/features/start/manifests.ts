// The agents that a session can be started with. Pure.

import type { AgentView } from '../../ipc/bindings';

/** Agents with a manifest of their own: those in Markdown only take work from another agent. */
export function manifestsOf(agents: readonly AgentView[]): AgentView[] {
  return agents.filter(({ file }) => file.endsWith('.toml'));
}
