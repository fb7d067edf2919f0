//! How each agent keeps its transcripts.

use protocol::UserError;
use serde_json::Value;

use crate::agent_calls::ExternalAgent;
use crate::transcripts::session_state::SessionState;
use crate::transcripts::{claude_code, codex, gemini_cli};

/// Next step where an agent's transcripts cannot be read.
pub(super) const TRANSCRIPT_AGENTS_HINT: &str = "Name claude-code, codex or gemini-cli.";

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
    /// Beginning of the names of files that hold what a sub-agent did in the session of another file.
    pub sub_agent_prefix: Option<&'static str>,
    /// Reads what was said and done in one entry.
    pub read_entry: fn(&mut SessionState<'_>, &Value),
}

impl TranscriptForm {
    /// Whether a file is the transcript of a session, and not of a sub-agent in one.
    pub(super) fn is_whole_session(&self, file: &str) -> bool {
        let name = file.rsplit('/').next().unwrap_or(file);
        !self
            .sub_agent_prefix
            .is_some_and(|prefix| name.starts_with(prefix))
    }
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
            sub_agent_prefix: Some("agent-"),
            read_entry: claude_code::read_entry,
        }),
        ExternalAgent::Codex => Ok(TranscriptForm {
            home_folder: ".codex",
            variable: Some("CODEX_HOME"),
            folder: "sessions",
            pattern: "**/rollout-*.jsonl",
            sub_agent_prefix: None,
            read_entry: codex::read_entry,
        }),
        ExternalAgent::GeminiCli => Ok(TranscriptForm {
            home_folder: ".gemini",
            variable: None,
            folder: "tmp",
            pattern: "*/chats/**/session-*.{json,jsonl}",
            sub_agent_prefix: None,
            read_entry: gemini_cli::read_entry,
        }),
        ExternalAgent::Opencode | ExternalAgent::Cursor => {
            let message = format!("Transcripts of {} cannot be read.", agent.name());
            Err(UserError::new(message, TRANSCRIPT_AGENTS_HINT))
        }
    }
}
