//! Gemini CLI: a head, then messages, each written again when its calls have ended; in earlier versions one document
//! with all of them.

use data_encoding::HEXLOWER;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::transcripts::content::TranscriptContent;
use crate::transcripts::session_state::SessionState;

/// Reads a message, a list of messages that takes their place, or a whole document.
pub(super) fn read_entry(state: &mut SessionState<'_>, entry: &Value) {
    state.note_session(entry, "sessionId");
    state.note_time(entry);
    if let (None, Some(workspace), Some(hash)) = (
        &state.folder,
        state.workspace,
        entry.get("projectHash").and_then(Value::as_str),
    ) {
        let ours = Sha256::digest(workspace.as_os_str().as_encoded_bytes());
        state.folder = (HEXLOWER.encode(&ours) == hash).then(|| workspace.to_owned());
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
    let thoughts = message.get("thoughts").and_then(Value::as_array);
    for thought in thoughts.into_iter().flatten() {
        state.note_time(thought);
        let parts = ["subject", "description"].iter();
        let parts = parts.filter_map(|name| thought.get(name)?.as_str());
        state.add_thought(parts.collect::<Vec<_>>().join("\n"));
    }
    state.note_time(message);
    let said = message.get("content").map(TranscriptContent::read);
    let said = said.unwrap_or_default();
    match message.get("type").and_then(Value::as_str) {
        Some("user") => state.add_prompt(said.text, said.images),
        Some("gemini") => state.add_answer(said.text),
        Some(_) | None => {}
    }
    let calls = message.get("toolCalls").and_then(Value::as_array);
    for call in calls.into_iter().flatten() {
        state.note_time(call);
        let Some(tool) = call.get("name").and_then(Value::as_str) else {
            continue;
        };
        if let Some(Value::Object(input)) = call.get("args") {
            state.add_call(call.get("id"), tool, input.clone());
        }
        if let Some(result) = call.get("result").filter(|result| !result.is_null()) {
            let status = call.get("status").and_then(Value::as_str);
            let failed = matches!(status, Some("error" | "cancelled"));
            state.add_result(call.get("id"), read_result(result), failed);
        }
    }
}

/// Returns what the model read of a call: the outputs and errors of its responses, and other parts as they are.
fn read_result(result: &Value) -> TranscriptContent {
    let parts = result
        .as_array()
        .map_or_else(|| vec![result], |parts| parts.iter().collect());
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    for part in parts {
        let response = part.pointer("/functionResponse/response");
        let text = response.and_then(|response| {
            let members = ["output", "error"].iter();
            let mut texts = members.filter_map(|name| response.get(name)?.as_str());
            texts.next()
        });
        let read = match text {
            Some(text) => Value::from(text),
            None => part.clone(),
        };
        let read = TranscriptContent::read(&read);
        images.extend(read.images);
        texts.extend(Some(read.text).filter(|text| !text.is_empty()));
    }
    TranscriptContent {
        text: texts.join("\n"),
        images,
    }
}
