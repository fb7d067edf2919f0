//! Accesses that can be derived from the arguments of a call if its tool does not declare them itself.

use protocol::{Access, Capability, UserError};
use serde_json::{Map, Value};

fn text_argument<'a>(arguments: &'a Map<String, Value>, name: &str) -> &'a str {
    arguments
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Checks that the arguments that name something to access are strings.
pub(super) fn check_strings(id: &str, arguments: &Map<String, Value>) -> Result<(), UserError> {
    match id {
        "bash" => check_string(id, arguments, "command"),
        "web_fetch" => check_string(id, arguments, "url"),
        "read" | "write" | "edit" | "notebook_edit" | "delete_path" | "lsp" | "lsp_rename" => {
            check_string(id, arguments, "path")
        }
        "apply_patch" => check_string(id, arguments, "patch"),
        "glob" | "grep" | "repo_overview" if arguments.contains_key("path") => {
            check_string(id, arguments, "path")
        }
        _ => Ok(()),
    }
}

fn check_string(id: &str, arguments: &Map<String, Value>, name: &str) -> Result<(), UserError> {
    match arguments.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(()),
        Some(_) | None => Err(UserError::new(
            format!("`{id}` needs `{name}`, a text."),
            "A call without it does not run.",
        )),
    }
}

/// Returns the accesses that a search's own pattern implies.
pub(super) fn implied_accesses(id: &str, arguments: &Map<String, Value>) -> Vec<Access> {
    if id != "glob" {
        return Vec::new();
    }
    let pattern = text_argument(arguments, "pattern");
    let literal: Vec<&str> = pattern
        .split('/')
        .take_while(|name| !name.contains(['*', '?', '[', '{']))
        .collect();
    let leads = pattern.starts_with('/') || pattern.starts_with('~') || literal.contains(&"..");
    if !leads {
        return Vec::new();
    }
    let start = literal.join("/");
    let from = match (
        pattern.starts_with(['/', '~']),
        text_argument(arguments, "path"),
    ) {
        (false, under) if !under.is_empty() => format!("{under}/{start}"),
        _ if start.is_empty() => "/".to_owned(),
        _ => start,
    };
    vec![Access::new(Capability::FsRead, from)]
}
