//! What a tool reports back: its output or its error, and the 000 result that both become.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::outcome::Truncated;

/// What a tool returns when it worked. The pipeline folds it, once, into an [`crate::Outcome`] (M01).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolOutput {
    /// What the model reads. May be longer than the tool's limit; the pipeline truncates it to a sidecar.
    pub text: String,
    /// One short line for a person: "188 lines", "3 matches in 2 files".
    pub message: String,
    /// Structured output; never sent to the model.
    pub data: Option<Value>,
    /// The tool worked and says that the run is over.
    pub terminal: bool,
    /// Set when `text` is only the head by the tool's own count (entries, matches) and the whole already stands in a
    /// sidecar file (`S002-73` to `S002-75`). The pipeline takes it over as it is.
    pub truncated: Option<Truncated>,
}

impl ToolOutput {
    /// An output with the model's text and the person's line.
    pub fn new(text: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            message: message.into(),
            data: None,
            terminal: false,
            truncated: None,
        }
    }
}

/// Why a tool could not do what it was asked (`S001-21` to `S001-25`). The display text is what the model reads, so it
/// names the offending thing and the next step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolError {
    /// The tool tried and failed.
    Failed(String),
    /// No tool of this name.
    NotFound(String),
    /// The arguments do not fit the schema or make no sense.
    InvalidArgs(String),
    /// The call was cancelled while it ran.
    Cancelled,
    /// What was shown is no longer so: a file changed between preview and execution, and nothing was touched. The
    /// pipeline shows the call anew.
    Stale(String),
    /// The call ran longer than its limit; the text says how long and what was left behind.
    TimedOut(String),
}

impl std::fmt::Display for ToolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed(message) | Self::Stale(message) | Self::TimedOut(message) => {
                f.write_str(message)
            }
            Self::NotFound(name) => write!(f, "Tool not found: {name}"),
            Self::InvalidArgs(message) => write!(f, "Invalid arguments: {message}"),
            Self::Cancelled => f.write_str("Cancelled"),
        }
    }
}

impl std::error::Error for ToolError {}

/// What the runtime reports of a call (000). Unknown members are kept (`S000-18`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The hard distinction (`S000-10`).
    pub success: bool,
    /// Marks the last result of the run (`S000-12`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<bool>,
    /// Asks for another model turn although the call failed (`S000-13`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs_followup: Option<bool>,
    /// A machine-readable hint for the next operation (`S000-14`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_action: Option<String>,
    /// Text for the person (`S000-15`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Text for the log, also shown (`S000-16`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Structured payload; an object (`S000-17`, `S000-19`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "Record<string, unknown> | null")]
    pub data: Option<Map<String, Value>>,
    /// Members that this version does not know.
    #[serde(flatten)]
    #[ts(skip)]
    pub other: Map<String, Value>,
}

impl ToolResult {
    /// Whether the run ends with this result (`S000-36` to `S000-39`).
    pub fn is_terminal(&self) -> bool {
        self.terminal == Some(true) || (!self.success && self.needs_followup != Some(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completion_semantics() {
        for (id, json, terminal) in [
            ("S000-36", r#"{"success":true,"terminal":true}"#, true),
            (
                "S000-36",
                r#"{"success":false,"terminal":true,"needsFollowup":true}"#,
                true,
            ),
            ("S000-37", r#"{"success":false}"#, true),
            (
                "S000-37",
                r#"{"success":false,"needsFollowup":false}"#,
                true,
            ),
            ("S000-38", r#"{"success":true}"#, false),
            (
                "S000-39",
                r#"{"success":false,"needsFollowup":true}"#,
                false,
            ),
            (
                "S000-44",
                r#"{"success":true,"message":"Event created.","data":{"eventId":"e_777"}}"#,
                false,
            ),
            (
                "S000-45",
                r#"{"success":false,"needsFollowup":true,"error":"Invalid date format","message":"Please retry."}"#,
                false,
            ),
            (
                "S000-46",
                r#"{"success":false,"terminal":true,"error":"Calendar service unavailable"}"#,
                true,
            ),
        ] {
            let result: ToolResult = serde_json::from_str(json).unwrap();
            assert_eq!(result.is_terminal(), terminal, "{id}: {json}");
        }
    }

    #[test]
    fn unknown_members_survive_and_wrong_ones_do_not() {
        let json = r#"{"success":true,"nextAction":"poll","data":{"a":[1]},"later":{"x":1}}"#;
        let result: ToolResult = serde_json::from_str(json).unwrap();
        assert_eq!(
            serde_json::to_string(&result).unwrap(),
            json,
            "S000-14, S000-17, S000-18"
        );
        assert!(
            serde_json::from_str::<ToolResult>(r#"{"message":"x"}"#).is_err(),
            "S000-10"
        );
        assert!(
            serde_json::from_str::<ToolResult>(r#"{"success":true,"data":[1]}"#).is_err(),
            "S000-19"
        );
    }
}
