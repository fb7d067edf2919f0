//! Claude Code: a line for each block of a message, with the folder and the session in every line.

use serde_json::Value;

use crate::transcripts::session_state::SessionState;

/// Reads the calls of one line.
pub(super) fn read_entry(state: &mut SessionState<'_>, entry: &Value) {
    state.note_session(entry, "sessionId");
    state.note_folder(entry);
    state.note_time(entry);
    let blocks = entry.pointer("/message/content").and_then(Value::as_array);
    for block in blocks.into_iter().flatten() {
        let is_call = block.get("type").and_then(Value::as_str) == Some("tool_use");
        if let (true, Some(tool), Some(Value::Object(input))) = (
            is_call,
            block.get("name").and_then(Value::as_str),
            block.get("input"),
        ) {
            state.add_call(block.get("id"), tool, input.clone());
        }
    }
}
