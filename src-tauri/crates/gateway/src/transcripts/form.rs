//! How each agent keeps its transcripts.

use protocol::UserError;
use serde_json::Value;

use crate::agent_calls::ExternalAgent;
use crate::transcripts::session_state::SessionState;
use crate::transcripts::{claude_code, codex, gemini_cli};

/// Form of an agent's transcripts.
pub(super) struct TranscriptForm {
    /// The agent's folder in the home folder.
    pub home_folder: &'static str,
    /// Variable that names another folder in its place, if there is one.
    pub variable: Option<&'static str>,
    /// Folder of the transcripts in it.
    pub folder: &'static str,
    /// Pattern of the transcripts in that.
    pub pattern: &'static str,
    /// Reads the calls of one entry.
    pub read_entry: fn(&mut SessionState<'_>, &Value),
}

/// Returns the form of an agent's transcripts.
///
/// # Errors
/// It is not known.
pub(super) fn find_form(agent: ExternalAgent) -> Result<TranscriptForm, UserError> {
    match agent {
        ExternalAgent::ClaudeCode => Ok(TranscriptForm {
            home_folder: ".claude",
            variable: Some("CLAUDE_CONFIG_DIR"),
            folder: "projects",
            pattern: "**/*.jsonl",
            read_entry: claude_code::read_entry,
        }),
        ExternalAgent::Codex => Ok(TranscriptForm {
            home_folder: ".codex",
            variable: Some("CODEX_HOME"),
            folder: "sessions",
            pattern: "**/rollout-*.jsonl",
            read_entry: codex::read_entry,
        }),
        ExternalAgent::GeminiCli => Ok(TranscriptForm {
            home_folder: ".gemini",
            variable: None,
            folder: "tmp",
            pattern: "*/chats/**/session-*.{json,jsonl}",
            read_entry: gemini_cli::read_entry,
        }),
        ExternalAgent::Opencode | ExternalAgent::Cursor => {
            let message = format!("Transcripts of {} cannot be read.", agent.name());
            let hint = "Name claude-code, codex or gemini-cli.";
            Err(UserError::new(message, hint))
        }
    }
}
