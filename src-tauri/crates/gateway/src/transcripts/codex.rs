//! Codex: lines with a payload; the head has session and folder, and every turn its folder.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::transcripts::content::{TranscriptContent, read_data_url};
use crate::transcripts::session_state::SessionState;

/// Words before the exit code of a command, in its result.
const EXIT_CODE_WORDS: [&str; 2] = ["Process exited with code ", "Exit code: "];
/// Number of lines at the beginning of a result that Codex writes itself; what a command printed comes after them.
const RESULT_HEAD_LINES: usize = 4;

/// Reads one line.
pub(super) fn read_entry(state: &mut SessionState<'_>, entry: &Value) {
    state.note_time(entry);
    let Some(payload) = entry.get("payload") else {
        return;
    };
    match entry.get("type").and_then(Value::as_str) {
        Some("session_meta") => {
            state.note_session(payload, "id");
            state.note_folder(payload);
            state.note_version(payload, "cli_version");
        }
        Some("turn_context") => state.note_folder(payload),
        // What the person typed. Among the items of the model it stands beside what Codex adds by itself.
        Some("event_msg") if member(payload, "type") == Some("user_message") => {
            let texts = |name: &str| {
                let texts = payload.get(name).and_then(Value::as_array);
                texts.into_iter().flatten().filter_map(Value::as_str)
            };
            let images = texts("images").filter_map(read_data_url).collect();
            let image_files = texts("local_images").map(PathBuf::from).collect();
            let text = member(payload, "message").unwrap_or_default().to_owned();
            state.add_prompt_with_files(text, images, image_files);
        }
        Some("response_item") => read_item(state, payload),
        Some(_) | None => {}
    }
}

fn read_item(state: &mut SessionState<'_>, item: &Value) {
    let text = |name: &str| member(item, name);
    let content = |name: &str| {
        let content = item.get(name).map(TranscriptContent::read);
        content.unwrap_or_default()
    };
    let called = match text("type") {
        Some("message") if text("role") == Some("assistant") => {
            state.add_answer(content("content").text);
            None
        }
        // The thoughts themselves are kept for Codex alone, so that there are only summaries.
        Some("reasoning") => {
            state.add_thought(content("summary").text);
            None
        }
        Some("function_call_output" | "custom_tool_call_output") => {
            let result = content("output");
            let failed = has_failed(&result.text);
            state.add_result(item.get("call_id"), result, failed);
            None
        }
        Some("function_call") => Some((text("name"), parse_arguments(text("arguments")))),
        Some("custom_tool_call") => Some((text("name"), one_member("input", text("input")))),
        Some("local_shell_call") => {
            let action = item.get("action").and_then(Value::as_object);
            Some((Some("local_shell"), action.cloned().unwrap_or_default()))
        }
        Some(_) | None => None,
    };
    if let Some((Some(tool), input)) = called {
        let tool = match text("namespace") {
            Some(server) => format!("{server}__{tool}"),
            None => tool.to_owned(),
        };
        state.add_call(item.get("call_id"), &tool, input);
    }
}

/// Whether a result tells of a command that failed. Codex keeps no other sign of it.
fn has_failed(result: &str) -> bool {
    let mut codes = EXIT_CODE_WORDS.iter().filter_map(|words| {
        let mut head = result.lines().take(RESULT_HEAD_LINES);
        head.find_map(|line| line.strip_prefix(words))
    });
    codes.any(|code| code.trim() != "0")
}

fn member<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
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
