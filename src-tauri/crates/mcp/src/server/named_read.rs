//! What the tools that read something of a server have in common: an argument names what is read.

use protocol::ToolError;
use protocol::text::display_text::is_hidden;
use serde_json::{Map, Value};
use tools::text::{escape_invisible, truncate_chars};

use crate::limits::TARGET_CHARS_MAX;

/// Returns what this argument names, as a person can see it; empty if it names nothing.
pub(super) fn format_target(arguments: &Map<String, Value>, key: &str) -> String {
    let named = arguments.get(key).and_then(Value::as_str);
    truncate_chars(
        &escape_invisible(named.unwrap_or_default()),
        TARGET_CHARS_MAX,
    )
}

/// Checks that a person can see all of what this argument names.
///
/// # Errors
/// It has a hidden character.
pub(super) fn check_visible(arguments: &Map<String, Value>, key: &str) -> Result<(), ToolError> {
    let named = arguments.get(key).and_then(Value::as_str);
    match named.is_some_and(|named| named.chars().any(is_hidden)) {
        true => Err(ToolError::InvalidArgs(format!(
            "`{key}` has a hidden character; write it as the list tells it"
        ))),
        false => Ok(()),
    }
}
