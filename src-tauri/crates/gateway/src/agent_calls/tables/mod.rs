//! The tools of other agents, a table for each agent: what they are here, and what their arguments are.

mod claude_code;
mod codex;
mod cursor;
mod gemini_cli;
mod opencode;

use crate::agent_calls::argument_rule::ArgumentRule;
use crate::agent_calls::{AgentCall, ExternalAgent, OwnCall};

/// A tool of an agent by its name, and what it is here.
pub(super) type Row = (&'static str, Meaning);

/// What an agent's tool is here.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    /// A tool of ours, with a rule for each argument.
    Tool(&'static str, &'static [ArgumentRule]),
    /// What names alone do not say.
    Special(fn(&AgentCall<'_>) -> Result<Vec<OwnCall>, String>),
    /// It is about the agent's own state alone.
    Internal,
}

/// Returns the table of an agent.
pub(super) const fn rows(agent: ExternalAgent) -> &'static [Row] {
    match agent {
        ExternalAgent::ClaudeCode => claude_code::TOOLS,
        ExternalAgent::Codex => codex::TOOLS,
        ExternalAgent::GeminiCli => gemini_cli::TOOLS,
        ExternalAgent::Opencode => opencode::TOOLS,
        ExternalAgent::Cursor => cursor::TOOLS,
    }
}

/// Finds a tool in the table of its agent.
pub(super) fn find_row(agent: ExternalAgent, tool: &str) -> Option<Meaning> {
    let row = rows(agent).iter().find(|(name, _)| *name == tool);
    row.map(|(_, meaning)| *meaning)
}
