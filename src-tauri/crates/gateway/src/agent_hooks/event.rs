//! Events of agents' hooks, as parsed from what an agent wrote.

use std::path::PathBuf;

use agent::DelegatedResult;
use protocol::text::cut::shorten_text;
use protocol::text::depth::{DEPTH_MAX, exceeds_depth};
use serde_json::{Map, Value};

use super::dialect::HookDialect;
use crate::limits::RESULT_CHARS_MAX;

/// An event of an agent's hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HookEvent {
    /// The agent's own id of its session.
    pub session: String,
    /// Folder that the agent works in.
    pub folder: PathBuf,
    pub kind: HookEventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HookEventKind {
    /// A tool is about to be used.
    Before(ToolUse),
    /// A tool was used.
    After(ToolUse, DelegatedResult),
    /// A turn ended.
    TurnEnded,
    /// The session ended.
    Ended,
    /// Something that no verdict is asked about.
    Other,
}

/// A use of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolUse {
    /// The agent's own id of the call, if it has one.
    pub id: Option<String>,
    /// The agent's name of the tool.
    pub tool: String,
    /// Input of the tool.
    pub input: Map<String, Value>,
}

impl HookEvent {
    /// Parses what an agent wrote to its hook.
    ///
    /// # Errors
    /// A sentence that names the missing or malformed member.
    pub fn parse(dialect: &HookDialect, written: &Value) -> Result<Self, String> {
        let text = |names: &[&str]| names.iter().find_map(|name| written.get(*name)?.as_str());
        let event = text(&["hook_event_name"]).ok_or_else(|| missing("hook_event_name"))?;
        let session =
            text(&["session_id", "conversation_id"]).ok_or_else(|| missing("session_id"))?;
        let first_root = written
            .get("workspace_roots")
            .and_then(|roots| roots.get(0)?.as_str());
        let folder = text(&["cwd"])
            .or(first_root)
            .ok_or_else(|| missing("cwd"))?;
        let is_any = |names: &[&str]| names.contains(&event);
        let kind = if event == dialect.before {
            HookEventKind::Before(ToolUse::parse(written)?)
        } else if is_any(dialect.after) {
            let result = DelegatedResult::Succeeded(result_text(written));
            HookEventKind::After(ToolUse::parse(written)?, result)
        } else if is_any(dialect.failed) {
            let result = DelegatedResult::Failed(result_text(written));
            HookEventKind::After(ToolUse::parse(written)?, result)
        } else if is_any(dialect.turn_ended) {
            HookEventKind::TurnEnded
        } else if is_any(dialect.ended) {
            HookEventKind::Ended
        } else {
            HookEventKind::Other
        };
        Ok(Self {
            session: session.to_owned(),
            folder: PathBuf::from(folder),
            kind,
        })
    }
}

impl ToolUse {
    fn parse(written: &Value) -> Result<Self, String> {
        let tool = written.get("tool_name").and_then(Value::as_str);
        let input = match written.get("tool_input") {
            Some(Value::Object(input)) => input.clone(),
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err("`tool_input` is no object.".to_owned()),
        };
        let id = written.get("tool_use_id").and_then(Value::as_str);
        Ok(Self {
            id: id.map(str::to_owned),
            tool: tool.ok_or_else(|| missing("tool_name"))?.to_owned(),
            input,
        })
    }
}

fn missing(member: &str) -> String {
    format!("`{member}` is missing or no text.")
}

/// Returns the text of a tool's result for the record.
fn result_text(written: &Value) -> String {
    let response = ["tool_response", "tool_output", "error"]
        .iter()
        .find_map(|name| written.get(*name));
    let text = match response {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(response) if exceeds_depth(response, DEPTH_MAX) => {
            "The result is nested too deeply.".to_owned()
        }
        Some(response) => known_text(response).unwrap_or_else(|| response.to_string()),
    };
    shorten_text(&text, RESULT_CHARS_MAX)
}

/// Returns the text of a result in one of the known shapes.
fn known_text(response: &Value) -> Option<String> {
    if let (Some(stdout), Some(stderr)) = (response.get("stdout"), response.get("stderr")) {
        return Some([stdout.as_str()?, stderr.as_str()?].concat());
    }
    let text = ["llmContent", "output", "text"]
        .iter()
        .find_map(|name| response.get(*name)?.as_str());
    text.map(str::to_owned)
}
