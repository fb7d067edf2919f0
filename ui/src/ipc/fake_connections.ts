// The agents of the recorded engine: one in each state that the screen shows, and the effects of a change.

import type {
  ConnectionAction,
  ConnectionPlan,
  ConnectionState,
  ConnectionView,
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
  ...more,
});

/** One in each state. */
const standing = (): ConnectionView[] => [
  agent('claude-code', 'Claude Code', { type: 'not_connected' }),
  agent('codex', 'Codex', { type: 'connected' }, { recent_sessions: 0 }),
  agent(
    'gemini-cli',
    'Gemini CLI',
    { type: 'other_program', program: '/opt/other/countersign' },
    { recent_sessions: 12 },
  ),
  agent('opencode', 'opencode', { type: 'removed' }, { program: null }),
  agent('cursor', 'Cursor', { type: 'not_connected' }, { program: null, acp: null, checked_with: null }),
];

const HOOK = '  "hooks": { "PreToolUse": [{ "command": "countersign hook" }] },';

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
    const { config, state } = this.#find(id);
    if (state.type === (action === 'connect' ? 'connected' : 'not_connected')) return Promise.resolve(null);
    const adds = action === 'connect';
    return Promise.resolve({
      diff: {
        path: config,
        exists: true,
        language: 'json',
        added: adds ? 1 : 0,
        removed: adds ? 0 : 1,
        hunks: [
          {
            id: 0,
            old_start: 1,
            new_start: 1,
            section: 'hooks',
            added: adds ? 1 : 0,
            removed: adds ? 0 : 1,
            lines: [
              { kind: 'context', old: 1, new: 1, parts: [{ text: '{' }] },
              adds
                ? { kind: 'added', old: null, new: 2, parts: [{ text: HOOK }] }
                : { kind: 'removed', old: 2, new: null, parts: [{ text: HOOK }] },
            ],
          },
        ],
      },
      copy: adds ? `/home/mira/.local/share/countersign/connections/${id}.before` : null,
      digest: `digest-${id}`,
    });
  }

  change(id: string, action: ConnectionAction, shown: string): Promise<void> {
    if (this.refusal) return Promise.reject(new Refused(this.refusal));
    this.made.push({ agent: id, action, shown });
    this.#find(id).state = { type: action === 'connect' ? 'connected' : 'not_connected' };
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
