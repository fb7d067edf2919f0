//! The turns of a scripted model.

use std::path::Path;

use provider::{Script, ScriptedProvider};
use serde::Serialize;
use serde_json::{Value, json};

/// A turn in which the model calls one tool.
pub fn call_tool(name: &str, arguments: Value) -> Value {
    json!({ "calls": [{ "name": name, "arguments": arguments }] })
}

/// A turn in which the model runs one command.
pub fn call_bash(command: impl AsRef<str>) -> Value {
    call_tool("bash", json!({ "command": command.as_ref() }))
}

/// A turn in which the model reads one file.
pub fn call_read(path: impl AsRef<Path>) -> Value {
    call_tool("read", json!({ "path": path.as_ref() }))
}

/// A turn in which the model writes one file.
pub fn call_write(path: impl AsRef<Path>, content: impl AsRef<str>) -> Value {
    let (path, content) = (path.as_ref(), content.as_ref());
    call_tool("write", json!({ "path": path, "content": content }))
}

/// A turn in which the model replaces one text in a file.
pub fn call_edit(path: &str, old: &str, new: &str) -> Value {
    call_tool(
        "edit",
        json!({ "path": path, "old_string": old, "new_string": new }),
    )
}

/// One turn with the calls of all these turns.
pub fn join_calls(turns: impl IntoIterator<Item = Value>) -> Value {
    let calls = turns
        .into_iter()
        .flat_map(|mut turn| match turn["calls"].take() {
            Value::Array(calls) => calls,
            other => panic!("no calls: {other}"),
        });
    json!({ "calls": calls.collect::<Vec<_>>() })
}

/// A turn in which the model only says something.
pub fn say_text(text: &str) -> Value {
    json!({ "text": text })
}

/// A model that plays `turns`, and says nothing more after them.
pub fn script_provider(turns: impl Serialize) -> ScriptedProvider {
    let script = json!({ "turns": turns }).to_string();
    ScriptedProvider::new(Script::parse(&script).unwrap())
}
