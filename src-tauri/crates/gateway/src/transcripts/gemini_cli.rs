//! Gemini CLI: a head, then messages, each written again when its calls have ended; in earlier versions one document
//! with all of them.

use data_encoding::HEXLOWER;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::transcripts::session_state::SessionState;

/// Reads the calls of a message, of a list of messages that takes their place, or of a whole document.
pub(super) fn read_entry(state: &mut SessionState<'_>, entry: &Value) {
    state.note_session(entry, "sessionId");
    state.note_time(entry);
    if let (None, Some(hash)) = (
        &state.folder,
        entry.get("projectHash").and_then(Value::as_str),
    ) {
        let ours = Sha256::digest(state.query.workspace.as_os_str().as_encoded_bytes());
        state.folder = (HEXLOWER.encode(&ours) == hash).then(|| state.query.workspace.to_owned());
    }
    for list in ["/messages", "/$set/messages"] {
        let messages = entry.pointer(list).and_then(Value::as_array);
        for message in messages.into_iter().flatten() {
            read_message(state, message);
        }
    }
    read_message(state, entry);
}

fn read_message(state: &mut SessionState<'_>, message: &Value) {
    let calls = message.get("toolCalls").and_then(Value::as_array);
    for call in calls.into_iter().flatten() {
        state.note_time(call);
        if let (Some(tool), Some(Value::Object(input))) =
            (call.get("name").and_then(Value::as_str), call.get("args"))
        {
            state.add_call(call.get("id"), tool, input.clone());
        }
    }
}
