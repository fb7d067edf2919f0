// The agents of the recorded engine: one in each state that the screen shows, and the effects of a change.

import type {
  AgentServerView,
  AgentServersView,
  ConnectionAction,
  ConnectionPlan,
  ConnectionState,
  ConnectionView,
  Hunk,
  SessionImport,
  UserError,
} from './bindings';
import { Refused } from './desk';

const agent = (
  id: string,
  title: string,
  state: ConnectionState,
  more: Partial<ConnectionView> = {},
): ConnectionView => ({
  id,
  title,
  program: `/home/mira/.local/bin/${id}`,
  config: `/home/mira/.${id}/settings.json`,
  state,
  interfaces: ['hooks', 'acp', 'mcp'],
  acp: { program: null, install: `npm install -g ${id}` },
  gaps: [
    {
      text: 'A hook that fails lets the call through.',
      closed_by: 'The command ends with 2 where Countersign gives no answer, which denies.',
    },
    { text: '`disableAllHooks` in the settings of a project switches all hooks off there.', closed_by: null },
  ],
  checked_with: '1.0.0',
  recent_sessions: null,
  servers: { type: 'readable', config: `/home/mira/.${id}/servers.json`, servers: [], can_restore: false },
  ...more,
});

const server = (name: string, route: AgentServerView['route'], folder: string | null = null): AgentServerView => ({
  name,
  folder,
  route,
});

/** Servers that can be connected, and one that cannot. */
const claudeServers: AgentServersView = {
  type: 'readable',
  config: '/home/mira/.claude.json',
  servers: [
    server('files', { type: 'direct' }),
    server('search', { type: 'direct' }),
    server('old-tracker', {
      type: 'fixed',
      reason: 'It is reached by the older transport of events (SSE), which the gateway does not speak.',
    }),
    server('database', { type: 'direct' }, '/home/mira/projects/shop'),
  ],
  can_restore: false,
};

/** One in each state. */
const standing = (): ConnectionView[] => [
  agent('claude-code', 'Claude Code', { type: 'not_connected' }, { servers: claudeServers }),
  agent(
    'codex',
    'Codex',
    { type: 'connected' },
    {
      recent_sessions: 0,
      servers: {
        type: 'readable',
        config: '/home/mira/.codex/config.toml',
        servers: [server('docs', { type: 'gateway' })],
        can_restore: true,
      },
    },
  ),
  agent(
    'gemini-cli',
    'Gemini CLI',
    { type: 'other_program', program: '/opt/other/countersign' },
    {
      recent_sessions: 12,
      servers: {
        type: 'unreadable',
        error: {
          message:
            '/home/mira/.gemini/settings.json, where Gemini CLI has its servers, cannot be edited: line 4 is not JSON.',
          hint: 'Correct it by hand, then repeat. Nothing was changed.',
          context: [],
        },
      },
    },
  ),
  agent('opencode', 'opencode', { type: 'removed' }, { program: null }),
  agent('cursor', 'Cursor', { type: 'not_connected' }, { program: null, acp: null, checked_with: null }),
];

const HOOK = '  "hooks": { "PreToolUse": [{ "command": "countersign hook" }] },';
const DIRECT = '  "files": { "command": "npx", "args": ["server-files"], "env": { "TOKEN": "***" } },';
const GATEWAY =
  '  "files": { "command": "countersign", "args": ["gateway", "mcp", "--name", "files", "--pass-env", "TOKEN", "--", "npx", "server-files"], "env": { "TOKEN": "***" } },';

/** What an act takes out of a file, and puts into it. */
const changedLines: Record<ConnectionAction, { removed: string[]; added: string[] }> = {
  connect: { removed: [], added: [HOOK] },
  disconnect: { removed: [HOOK], added: [] },
  connect_servers: { removed: [DIRECT], added: [GATEWAY] },
  restore_servers: { removed: [GATEWAY], added: [DIRECT] },
};

const serversFile = ({ config, servers }: ConnectionView): string =>
  servers?.type === 'readable' ? servers.config : config;

/** Sends the servers of an agent that go one way the other way. */
function routeServers({ servers }: ConnectionView, from: 'direct' | 'gateway', to: 'direct' | 'gateway'): void {
  if (servers?.type !== 'readable') return;
  for (const one of servers.servers) if (one.route.type === from) one.route = { type: to };
  servers.can_restore = to === 'gateway';
}

function planOf(agent: ConnectionView, action: ConnectionAction, path: string, copy: string | null): ConnectionPlan {
  const { removed, added } = changedLines[action];
  const fixed = agent.servers?.type === 'readable' ? agent.servers.servers : [];
  const notes = fixed.flatMap(({ name, route }) =>
    route.type === 'fixed' ? [{ server: name, text: route.reason }] : [],
  );
  const hunk: Hunk = {
    id: 0,
    old_start: 1,
    new_start: 1,
    section: '',
    added: added.length,
    removed: removed.length,
    lines: [
      { kind: 'context', old: 1, new: 1, parts: [{ text: '{' }] },
      ...removed.map((text) => ({ kind: 'removed' as const, old: 2, new: null, parts: [{ text }] })),
      ...added.map((text) => ({ kind: 'added' as const, old: null, new: 2, parts: [{ text }] })),
    ],
  };
  return {
    diff: { path, exists: true, language: 'json', added: added.length, removed: removed.length, hunks: [hunk] },
    copy,
    notes: action === 'connect_servers' ? notes : [],
    digest: `digest-${agent.id}`,
  };
}

/** The agents of a fake desk. */
export class FakeConnections {
  all: ConnectionView[] = standing();
  /** Why the next change is refused. */
  refusal: UserError | null = null;
  /** The changes that were made. */
  readonly made: { agent: string; action: ConnectionAction; shown: string }[] = [];
  /** The agents whose sessions were imported. */
  readonly imported: string[] = [];

  list(): Promise<ConnectionView[]> {
    return Promise.resolve(structuredClone(this.all));
  }

  plan(id: string, action: ConnectionAction): Promise<ConnectionPlan | null> {
    const agent = this.#find(id);
    const copies = `/home/mira/.local/share/countersign/connections/${id}`;
    switch (action) {
      case 'connect':
        if (agent.state.type === 'connected') return Promise.resolve(null);
        return Promise.resolve(planOf(agent, action, agent.config, `${copies}.before`));
      case 'disconnect':
        if (agent.state.type === 'not_connected') return Promise.resolve(null);
        return Promise.resolve(planOf(agent, action, agent.config, null));
      case 'connect_servers':
        return Promise.resolve(planOf(agent, action, serversFile(agent), `${copies}.servers.before`));
      case 'restore_servers':
        return Promise.resolve(planOf(agent, action, serversFile(agent), null));
    }
  }

  change(id: string, action: ConnectionAction, shown: string): Promise<void> {
    if (this.refusal) return Promise.reject(new Refused(this.refusal));
    this.made.push({ agent: id, action, shown });
    const agent = this.#find(id);
    switch (action) {
      case 'connect':
        agent.state = { type: 'connected' };
        break;
      case 'disconnect':
        agent.state = { type: 'not_connected' };
        break;
      case 'connect_servers':
        routeServers(agent, 'direct', 'gateway');
        break;
      case 'restore_servers':
        routeServers(agent, 'gateway', 'direct');
        break;
    }
    return Promise.resolve();
  }

  importSessions(id: string): Promise<SessionImport> {
    if (this.refusal) return Promise.reject(new Refused(this.refusal));
    const added = this.imported.includes(id) ? 0 : (this.#find(id).recent_sessions ?? 0);
    this.imported.push(id);
    const unchanged = (this.#find(id).recent_sessions ?? 0) - added;
    return Promise.resolve({ added, grown: 0, unchanged, entries: 9 * added, elsewhere: 0, faults: 0, reasons: [] });
  }

  #find(id: string): ConnectionView {
    const found = this.all.find((one) => one.id === id);
    if (!found) throw new Refused({ message: `\`${id}\` is no agent that can be connected.`, hint: '', context: [] });
    return found;
  }
}
