//! What the hooks of each agent are called, and how each agent wants its answers: one table.
//!
//! Every row was checked with the agent itself, but for Cursor's, which is as its documentation has it.

use crate::agent_calls::ExternalAgent;

/// How an agent's hooks ask and are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookDialect {
    /// The agent.
    pub agent: ExternalAgent,
    /// Event before a tool is used.
    pub before: &'static str,
    /// Events after a tool was used.
    pub after: &'static [&'static str],
    /// Events after a tool failed.
    pub failed: &'static [&'static str],
    /// Events at the end of a turn, when no call is open any more.
    pub turn_ended: &'static [&'static str],
    /// Events at the end of a session.
    pub ended: &'static [&'static str],
    /// Form of the answers.
    pub form: AnswerForm,
}

/// Form of the answers that an agent obeys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerForm {
    /// `permissionDecision` *allow* or *deny*, with the whole input in `updatedInput`.
    ClaudeCode,
    /// As Claude Code's, but that *allow* without `updatedInput` counts as a failure of the hook: to let a call pass is to
    /// say nothing.
    Codex,
    /// `decision`, with the changed members of the input in `tool_input`.
    GeminiCli,
    /// `decision`, with the whole input in `tool_input`, for our own plugin.
    Plugin,
    /// `permission`; the input cannot be replaced.
    Cursor,
}

/// All agents whose hooks are known.
pub const DIALECTS: [HookDialect; 5] = [
    HookDialect {
        agent: ExternalAgent::ClaudeCode,
        before: "PreToolUse",
        after: &["PostToolUse"],
        failed: &["PostToolUseFailure"],
        turn_ended: &[],
        ended: &["SessionEnd"],
        form: AnswerForm::ClaudeCode,
    },
    HookDialect {
        agent: ExternalAgent::Codex,
        before: "PreToolUse",
        after: &["PostToolUse"],
        failed: &[],
        turn_ended: &["Stop"],
        ended: &[],
        form: AnswerForm::Codex,
    },
    HookDialect {
        agent: ExternalAgent::GeminiCli,
        before: "BeforeTool",
        after: &["AfterTool"],
        failed: &[],
        turn_ended: &[],
        ended: &["SessionEnd"],
        form: AnswerForm::GeminiCli,
    },
    HookDialect {
        agent: ExternalAgent::Opencode,
        before: "tool.execute.before",
        after: &["tool.execute.after"],
        failed: &[],
        turn_ended: &[],
        ended: &[],
        form: AnswerForm::Plugin,
    },
    HookDialect {
        agent: ExternalAgent::Cursor,
        before: "preToolUse",
        after: &["postToolUse"],
        failed: &["postToolUseFailure"],
        turn_ended: &[],
        ended: &["sessionEnd"],
        form: AnswerForm::Cursor,
    },
];

impl HookDialect {
    /// Finds the dialect of the agent with this id.
    pub fn find(agent: &str) -> Option<&'static Self> {
        DIALECTS.iter().find(|dialect| dialect.agent.id() == agent)
    }
}
