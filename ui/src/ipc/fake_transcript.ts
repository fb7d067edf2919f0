// A session with everything that a transcript shows: prose and code, runs of quiet calls, changes, failures, sub-agents.

import type { EventBody, ToolKind } from './bindings';
import type { FakeHost } from './fake';

const SESSION = 'ses_words';
const CHILD = 'ses_words_child';
const WORKSPACE = '/home/mira/code/tidemark';

const ANSWER = `## What I found

The parser reads \`-2^2\` as *(−2)²*. Three places depend on that, in this order:

1. \`src/parser.rs\` binds the sign too tightly.
   \`\`\`rust
   /// Parses one operand, with its sign.
   fn unary(&mut self) -> Result<Expr, Fault> {
       let sign = self.take('-'); // binds tighter than '^'
       Ok(Expr::Negate(Box::new(self.power()?), sign, 0x2f, "minus"))
   }
   \`\`\`
2. The table in \`docs/grammar.md\` says the opposite.
3. Two tests hold what is wrong today.

> The sign of a power applies to the whole power: $-x^2 = -(x^2)$, as in the
> [reference](https://docs.example/grammar#power).
>
> - so says the grammar
> - and so does every other calculator

| operator | binds | associates |
| --- | ---: | :---: |
| \`^\` | tightest | to the right |
| unary \`-\` | next | |
| \`*\` \`/\` | then | to the left |

Run the tests with:

\`\`\`sh
cargo test -p parser unary --  --nocapture | tee "$HOME/out.txt"   # about 4 s
\`\`\`

\`\`\`
plain text without a language
\`\`\`
`;

/** Plays the session on a host. */
export function playTranscript(host: FakeHost): void {
  let calls = 0;
  const propose = (tool: string, kind: ToolKind, title: string, target: string): string => {
    calls += 1;
    const id = `call_words_${calls}`;
    host.emit(
      SESSION,
      {
        type: 'call_proposed',
        call: { id, name: tool, arguments: { path: target } },
        message: `msg_${id}`,
        reasoning: null,
      },
      {
        type: 'call_judged',
        call: id,
        tool,
        title,
        target,
        mode: kind === 'read' || kind === 'search' ? 'read' : 'safe_write',
        kind,
        trail: { verdict: 'allow', lead: 'Allowed.', otherwise: '', steps: [] },
        preview: kind === 'edit' ? changeOf(target) : { type: 'nothing' },
        undo: { type: 'not_needed' },
      },
      { type: 'call_started', call: id },
    );
    return id;
  };
  const end = (call: string, message: string, failed = false): void =>
    host.emit(SESSION, {
      type: 'call_ended',
      call,
      outcome: {
        state: failed ? 'failed' : 'done',
        text: failed ? 'error[E0308]: mismatched types\n  --> src/parser.rs:41' : '',
        message,
        duration_ms: 40 + calls * 7,
        needs_followup: failed,
        terminal: false,
        digest: 'd',
        ...(kindExit(message) !== null && { data: { exit_code: kindExit(message) } }),
      },
    });
  const edit = (path: string): void => {
    const call = propose('edit', 'edit', 'Edit', path);
    host.emit(SESSION, {
      type: 'undo_prepared',
      call,
      entry: {
        id: `und_${call}`,
        session: SESSION,
        call,
        at: host.now(),
        workspace: WORKSPACE,
        title: `Edited ${path}`,
        paths: 1,
        bytes: 900,
        shown: [path],
        state: 'prepared',
      },
    });
    end(call, '+2 −1');
  };
  let said = 0;
  const say = (text: string): void => {
    said += 1;
    host.emit(
      SESSION,
      { type: 'turn_started', message: `msg_a${said}`, turn: said },
      { type: 'agent_said', message: `msg_a${said}`, text, reasoning: false },
      {
        type: 'turn_ended',
        message: `msg_a${said}`,
        turn: said,
        usage: { input_tokens: 900, output_tokens: 120, cached_tokens: 400, cost_usd: null },
        duration_ms: 900,
        error: null,
        opaque: null,
      },
    );
  };
  const ask = (text: string): void =>
    host.emit(SESSION, { type: 'person_said', message: `msg_p${calls}`, text, steering: false });

  host.emit(
    SESSION,
    {
      type: 'session_opened',
      title: 'Fix unary minus',
      workspace: WORKSPACE,
      model: { provider: 'anthropic', model: 'claude-sonnet-5' },
    },
    { type: 'session_changed', state: 'running' },
  );
  ask('Why does `-2^2` give 4? Look into the parser, and do not change anything yet.');
  for (const path of ['src/parser.rs', 'src/lexer.rs', 'src/eval.rs', 'docs/grammar.md', 'tests/unary.rs'])
    end(propose('read', 'read', 'Read', path), '120 lines');
  end(propose('grep', 'search', 'Search', 'fn unary'), '4 matches');
  end(propose('bash', 'execute', 'Run', 'cargo test -p parser unary'), 'exit 0');
  end(propose('bash', 'execute', 'Run', 'git log --oneline -3'), 'exit 0');
  say(ANSWER);
  ask('Fix it, with a test.');
  say('I change the parser first, then the test.');
  edit('src/parser.rs');
  edit('tests/unary.rs');
  end(propose('bash', 'execute', 'Run', 'cargo test -p parser'), 'exit 101', true);
  edit('src/parser.rs');
  edit('docs/grammar.md');
  end(propose('bash', 'execute', 'Run', 'cargo test -p parser'), 'exit 0');
  end(propose('read', 'read', 'Read', 'docs/grammar.md'), '88 lines');
  say('`-2^2` is now −4, and the tests hold it.');
  ask('Let somebody review it.');
  const task = propose('task', 'other', 'Task', 'reviewer Review the change of unary minus');
  host.emit(
    CHILD,
    {
      type: 'session_opened',
      title: 'Review the change of unary minus',
      workspace: WORKSPACE,
      model: { provider: 'anthropic', model: 'claude-sonnet-5' },
      parent: { session: SESSION, call: task },
    },
    { type: 'session_changed', state: 'running' },
    { type: 'person_said', message: 'msg_c1', text: 'Review the change of unary minus.', steering: false },
    { type: 'session_changed', state: 'done' },
  );
  end(task, 'done');
  say('The review found nothing.');
  host.emit(SESSION, { type: 'session_changed', state: 'done' });
}

function kindExit(message: string): number | null {
  const found = /^exit (\d+)$/.exec(message);
  return found ? Number(found[1]) : null;
}

function changeOf(path: string): Extract<EventBody, { type: 'call_judged' }>['preview'] {
  return {
    type: 'diff',
    files: [
      {
        path,
        exists: true,
        language: path.endsWith('.rs') ? 'rust' : 'markdown',
        added: 2,
        removed: 1,
        hunks: [
          {
            id: 0,
            old_start: 40,
            new_start: 40,
            section: '',
            added: 2,
            removed: 1,
            lines: [
              { kind: 'removed', old: 41, new: null, parts: [{ text: "let sign = self.take('-');" }] },
              { kind: 'added', old: null, new: 41, parts: [{ text: 'let power = self.power()?;' }] },
              { kind: 'added', old: null, new: 42, parts: [{ text: "let sign = self.take('-');" }] },
            ],
          },
        ],
      },
    ],
  };
}
