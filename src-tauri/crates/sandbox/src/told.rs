//! What became of a room, as its program says it: one line of JSON in a file that the command cannot reach.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Told {
    /// The room could not be closed, so the command did not run.
    NotEntered {
        /// Which wall: `namespaces`, `overlay`, `proc`, …
        step: String,
        /// What the system said.
        error: String,
    },
    /// The command ran and ended.
    Ended(End),
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// By itself, with this code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
}

/// Reads what was said; none if the program was ended before it could say anything.
///
/// # Errors
/// The file cannot be read, or something else stands in it.
pub fn read_told(file: &Path) -> std::io::Result<Option<Told>> {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match text.trim() {
        "" => Ok(None),
        line => serde_json::from_str(line).map(Some).map_err(Into::into),
    }
}
