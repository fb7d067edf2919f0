// Looks up the tool of a call: its schema and, where a server brings it, the server and its claims.

import type { ServerView, ToolView } from '../../../ipc/bindings';
import type { Desk } from '../../../state/desk.svelte';
import { claims } from '../../tool_hints';

/** Facts of a tool that its card shows. */
interface ToolInfo {
  /** Input schema of the tool. */
  schema: unknown;
  /** The server that brings the tool; none for a built-in tool or one of a file. */
  server: string | null;
  /** The server's claims about the tool. */
  hints: readonly string[];
  /** Address of the server, if it is reached at one. */
  left: string | null;
}

/** How long an answer holds for the other cards, in milliseconds. */
const FRESH_MS = 10_000;

interface Told {
  at: number;
  tools: Promise<readonly ToolView[]>;
  servers: Promise<readonly ServerView[]>;
}
const told = new WeakMap<Desk, Map<string, Told>>();

/** Looks up a tool in the workspace of a session; none where the tool is not known. Never rejects. */
export async function toolInfo(desk: Desk, session: string, tool: string): Promise<ToolInfo | null> {
  const { tools, servers } = ask(desk, desk.session(session)?.workspace ?? null);
  const record = (await tools).find((one) => one.record.identity.tool_id === tool)?.record;
  if (!record) return null;
  const native = record.identity.native_ids as Record<string, string | undefined>;
  const server = native['mcp.server'] ?? null;
  const view = server === null ? undefined : (await servers).find((one) => one.settings.id === server);
  const said = view?.tools.find((one) => one.name.map((span) => span.text).join('') === native['mcp.tool']);
  return {
    schema: record.schemas.model_input_schema,
    server,
    hints: claims(said?.hints ?? {}),
    left: view?.settings.transport.type === 'http' ? view.settings.transport.url : null,
  };
}

function ask(desk: Desk, workspace: string | null): Told {
  const all = told.get(desk) ?? new Map<string, Told>();
  told.set(desk, all);
  const key = workspace ?? '';
  const before = all.get(key);
  const now = Date.now();
  if (before && Math.abs(now - before.at) < FRESH_MS) return before;
  const fresh: Told = {
    at: now,
    tools: desk.query({ type: 'tools', workspace }).then(
      (answer) => answer.tools,
      () => [],
    ),
    servers: desk.query({ type: 'servers' }).then(
      (answer) => answer.servers,
      () => [],
    ),
  };
  all.set(key, fresh);
  return fresh;
}
