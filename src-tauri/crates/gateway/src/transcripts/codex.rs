//! Codex: lines with a payload; the head has session and folder, and every turn its folder.

use serde_json::{Map, Value};

use crate::transcripts::session_state::SessionState;

/// Reads the call of one line.
pub(super) fn read_entry(state: &mut SessionState<'_>, entry: &Value) {
    state.note_time(entry);
    let Some(payload) = entry.get("payload") else {
        return;
    };
    let text = |name: &str| payload.get(name).and_then(Value::as_str);
    match entry.get("type").and_then(Value::as_str) {
        Some("session_meta") => {
            state.note_session(payload, "id");
            state.note_folder(payload);
        }
        Some("turn_context") => state.note_folder(payload),
        Some("response_item") => {
            let called = match text("type") {
                Some("function_call") => Some((text("name"), parse_arguments(text("arguments")))),
                Some("custom_tool_call") => {
                    Some((text("name"), one_member("input", text("input"))))
                }
                Some("local_shell_call") => {
                    let action = payload.get("action").and_then(Value::as_object);
                    Some((Some("local_shell"), action.cloned().unwrap_or_default()))
                }
                Some(_) | None => None,
            };
            if let Some((Some(tool), input)) = called {
                let tool = match text("namespace") {
                    Some(server) => format!("{server}__{tool}"),
                    None => tool.to_owned(),
                };
                state.add_call(payload.get("call_id"), &tool, input);
            }
        }
        Some(_) | None => {}
    }
}

/// Returns the arguments that are written as JSON in a text. What is no object keeps its text, under a name that no tool
/// knows.
fn parse_arguments(text: Option<&str>) -> Map<String, Value> {
    let parsed = text.map(serde_json::from_str);
    match parsed {
        Some(Ok(Value::Object(arguments))) => arguments,
        Some(Ok(_) | Err(_)) | None => one_member("arguments_that_are_no_object", text),
    }
}

fn one_member(name: &str, text: Option<&str>) -> Map<String, Value> {
    Map::from_iter([(name.to_owned(), text.unwrap_or_default().into())])
}
