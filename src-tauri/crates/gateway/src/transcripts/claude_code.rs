//! Claude Code: a line for each block of a message, with the folder and the session in every line.

use serde_json::Value;

use crate::transcripts::content::{TranscriptContent, read_images};
use crate::transcripts::session_state::SessionState;

/// Reads one line: a message of the person, of the agent or of a sub-agent, with its thoughts, its calls and their results.
pub(super) fn read_entry(state: &mut SessionState<'_>, entry: &Value) {
    state.note_session(entry, "sessionId");
    state.note_folder(entry);
    state.note_version(entry, "version");
    state.note_time(entry);
    let is = |name: &str| entry.get(name).and_then(Value::as_bool) == Some(true);
    let text = |value: &Value, name: &str| {
        let text = value.get(name).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let role = text(entry, "type");
    // What Claude Code says to its model itself, and what an agent and its sub-agent say to each other.
    let is_unsaid = is("isMeta") || is("isSidechain") || is("isCompactSummary");
    let Some(content) = entry.pointer("/message/content") else {
        return;
    };
    if let (Value::String(prompt), "user", false) = (content, role.as_str(), is_unsaid) {
        state.add_prompt(typed_text(prompt), Vec::new());
    }
    let mut images = match role == "user" && !is_unsaid {
        true => read_images(content),
        false => Vec::new(),
    };
    for block in content.as_array().into_iter().flatten() {
        match text(block, "type").as_str() {
            "text" | "thinking" if is_unsaid => {}
            "text" if role == "user" => {
                let images = std::mem::take(&mut images);
                state.add_prompt(typed_text(&text(block, "text")), images);
            }
            "thinking" => state.add_thought(text(block, "thinking")),
            "text" => state.add_answer(text(block, "text")),
            "tool_use" => {
                if let Some(Value::Object(input)) = block.get("input") {
                    state.add_call(block.get("id"), &text(block, "name"), input.clone());
                }
            }
            "tool_result" => {
                let failed = block.get("is_error").and_then(Value::as_bool) == Some(true);
                let result = block.get("content").map(TranscriptContent::read);
                let result = result.unwrap_or_default();
                state.add_result(block.get("tool_use_id"), result, failed);
            }
            _ => {}
        }
    }
    // Images without a text.
    state.add_prompt(String::new(), images);
}

/// Returns what the person typed: a command of the program is kept as a name with its arguments between marks, and what
/// such a command printed as a message of the person.
fn typed_text(text: &str) -> String {
    let between = |mark: &str| {
        let (_, rest) = text.split_once(&format!("<{mark}>"))?;
        Some(rest.split_once(&format!("</{mark}>"))?.0.trim())
    };
    match (between("command-name"), between("command-args")) {
        _ if text.starts_with("<local-command-") => String::new(),
        (Some(name), arguments) => format!("{name} {}", arguments.unwrap_or_default())
            .trim()
            .to_owned(),
        (None, _) => text.to_owned(),
    }
}
