//! A tool call: exactly three members, on every wire, in every version.

pub mod access;
pub mod captured_effects;
pub mod command_run;
pub mod content;
pub mod mode;
pub mod outcome;
pub mod plan;
pub mod result;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::{CallId, UserError};

/// A call that the assistant asks to run (`S000-01`). Further members are refused (`S000-05`): everything else known
/// about a call is in the events about it (`S000-07`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    /// Unique within one session (`S000-02`).
    pub id: CallId,
    /// Registered name of the tool, or an alias of that name.
    pub name: String,
    /// The model's arguments, not yet checked against the tool's schema.
    #[ts(type = "Record<string, unknown>")]
    pub arguments: Map<String, Value>,
}

impl ToolCall {
    /// Reads a call from JSON; the error names the member that is missing, of the wrong type, or not known
    /// (`S000-05`, `S000-08`, `S000-09`).
    pub fn from_json(text: &str) -> Result<Self, UserError> {
        serde_json::from_str(text).map_err(|error| {
            UserError::new(
                format!("This is not a tool call: {error}."),
                "A tool call is an object with exactly the members id, name and arguments.",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn example_call_parses_s000_43() {
        let text = r#"{"id":"c_42","name":"create_event","arguments":{"title":"Lunch","start":"2026-05-15T12:00:00Z"}}"#;
        let call = ToolCall::from_json(text).unwrap();
        assert_eq!(call.name, "create_event");
        assert_eq!(
            serde_json::to_string(&call).unwrap(),
            text,
            "S000-06: the same members in the same order"
        );
    }

    #[test]
    fn what_is_not_a_call_is_named() {
        for (text, named) in [
            (
                r#"{"id":"c","name":"read","arguments":{},"extra":1}"#,
                "unknown field `extra`",
            ), // S000-05
            (r#"{"name":"read","arguments":{}}"#, "missing field `id`"), // S000-08
            (r#"{"id":"c","arguments":{}}"#, "missing field `name`"),
            (r#"{"id":"c","name":"read"}"#, "missing field `arguments`"),
            (
                r#"{"id":"c","name":"read","arguments":[]}"#,
                "expected a map",
            ), // S000-09
            (
                r#"{"id":"c","name":"read","arguments":"x"}"#,
                "expected a map",
            ),
            (
                r#"{"id":"c","name":"read","arguments":null}"#,
                "expected a map",
            ),
        ] {
            let fault = ToolCall::from_json(text).unwrap_err();
            assert!(fault.message.contains(named), "{text} gave {fault}");
        }
    }
}
