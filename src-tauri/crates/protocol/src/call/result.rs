//! Result of a tool: its output or its error, and the 000 result that both are converted to.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use crate::call::outcome::Truncation;
use crate::{Content, SessionId};

/// Output of a tool that completed. The pipeline folds the output, once, into an [`crate::Outcome`] (M01).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ToolOutput {
    /// Text for the model. May be longer than the tool's limit; the pipeline truncates it to a sidecar. Empty when
    /// there is no text.
    pub text: String,
    /// Text that tells the model that the output is empty, where the tool's interface says so less well.
    pub empty: Option<String>,
    /// Items beside the text: images, pointers, more text (`S001-17`).
    pub content: Vec<Content>,
    /// One short line for a person: "188 lines", "3 matches in 2 files".
    pub message: String,
    /// Text for the log, also shown, where it differs from `text` (`S000-16`).
    pub error: Option<String>,
    /// Structured output.
    pub data: Option<Value>,
    /// Free JSON that is never sent to the model (`S001-18`).
    pub details: Option<Value>,
    /// The session that a sub-agent worked in (`S001-19`).
    pub child: Option<SessionId>,
    /// A machine-readable hint for the next operation (`S000-14`).
    pub next_action: Option<String>,
    /// Whether the tool reports success. A failure ends the run, unless `needs_followup` is set (M04, `S000-40`,
    /// `S000-41`).
    pub success: bool,
    /// Requests another model turn despite a failure (`S000-13`).
    pub needs_followup: bool,
    /// Whether the tool declares the run over (`S000-12`).
    pub terminal: bool,
    /// Members of a 000 result that this version does not know (`S000-18`).
    pub extra: Map<String, Value>,
    /// Set when `text` is only the head by the tool's own count (entries, matches) and the whole is already in a
    /// sidecar file (`S002-73` to `S002-75`). The pipeline adopts the value unchanged.
    pub truncated: Option<Truncation>,
    /// Number of secrets that the tool masked itself, where the pipeline could not see them whole.
    pub secrets_masked: u32,
}

impl ToolOutput {
    /// Returns a successful output, with the model's text and the person's line.
    pub fn new(text: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            message: message.into(),
            success: true,
            ..Self::default()
        }
    }

    /// Returns an empty output, with the text that tells the model so: the record keeps that there was no output.
    pub fn new_empty(note: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            empty: Some(note.into()),
            ..Self::new("", message)
        }
    }
}

/// A piece of a running tool's result: for people and the log, never for the model (`S001-12`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS)]
pub struct PartialResult {
    /// Items of the piece; people read them as text in the call's live output.
    pub content: Vec<Content>,
    /// Free-form details for the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown")]
    pub details: Option<Value>,
}

impl PartialResult {
    /// Returns the items as text, each on its own lines.
    pub fn to_text(&self) -> String {
        let items = self.content.iter().map(Content::to_text);
        items
            .map(|words| format!("{}\n", words.trim_end_matches('\n')))
            .collect()
    }

    /// Returns the length of the piece in bytes.
    pub fn byte_len(&self) -> usize {
        let details = self
            .details
            .as_ref()
            .map(|details| details.to_string().len());
        let items = self.content.iter().map(|item| match item {
            Content::Text { text } => text.len(),
            Content::Image { mime, base64 } => mime.len() + base64.len(),
            Content::Resource { uri, title, mime } => {
                uri.len() + title.len() + mime.as_ref().map_or(0, String::len)
            }
        });
        items.sum::<usize>() + details.unwrap_or_default()
    }
}

impl From<ToolResult> for ToolOutput {
    /// Converts the result of a tool that speaks 000: the model reads the message, the error and the data.
    fn from(result: ToolResult) -> Self {
        let message = result.message.unwrap_or_default();
        let data = result.data.map(Value::Object);
        let lines: Vec<String> = [
            Some(message.clone()),
            result.error.clone(),
            data.as_ref().map(Value::to_string),
        ]
        .into_iter()
        .flatten()
        .filter(|line| !line.is_empty())
        .collect();
        Self {
            error: result.error,
            data,
            next_action: result.next_action,
            success: result.success,
            needs_followup: result.needs_followup == Some(true),
            terminal: result.terminal == Some(true),
            extra: result.other,
            ..Self::new(lines.join("\n"), message)
        }
    }
}

/// Why a tool could not do what was asked (`S001-21` to `S001-25`). The model reads the display text, so the text names
/// the offending thing and the next step.
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
    /// The preview is out of date: a file changed between preview and execution, and nothing was touched. The pipeline
    /// shows the call anew.
    Stale(String),
    /// The call ran longer than its limit; the text gives the duration and names anything left behind.
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

/// Report of the runtime on a call (000). Unknown members are kept (`S000-18`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// Whether the call succeeded: the hard distinction (`S000-10`).
    pub success: bool,
    /// Marks the last result of the run (`S000-12`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal: Option<bool>,
    /// Requests another model turn although the call failed (`S000-13`).
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
    /// Returns the call's visible status (`S000-11`).
    pub fn status(&self) -> &'static str {
        match self.success {
            true => "done",
            false => "error",
        }
    }

    /// Returns whether the run ends with this result (`S000-36` to `S000-39`).
    pub fn is_terminal(&self) -> bool {
        self.terminal == Some(true) || (!self.success && self.needs_followup != Some(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Case {
        id: String,
        result: Value,
        terminal: bool,
        status: String,
        shown: Vec<String>,
    }

    /// `S000-42`: the interface reads the same table (`ui/src/state/completion.test.ts`). The table covers S000-18,
    /// S000-36, S000-37, S000-38, S000-39, and the examples S000-44, S000-45, S000-46 with their display.
    #[test]
    fn completion_semantics() {
        let table = include_str!("../../../../../tests/cases/completion.json");
        let cases: Vec<Case> = serde_json::from_str(table).unwrap();
        for Case {
            id,
            result,
            terminal,
            status,
            shown,
        } in cases
        {
            let result: ToolResult = serde_json::from_value(result).unwrap();
            assert_eq!(result.is_terminal(), terminal, "{id}");
            assert_eq!(result.status(), status, "{id}");
            let outcome = crate::Outcome::from_result(&result);
            assert_eq!(outcome.is_terminal(), terminal, "{id}: as an outcome");
            assert_eq!(outcome.state.as_str() == "done", status == "done", "{id}");
            let told = outcome.model_text();
            for text in shown {
                assert!(told.contains(&text), "{id}: {told}");
            }
        }
    }

    /// `S001-12`: pieces of results as text, by the table that the interface reads too (`ui/src/state/fold.test.ts`).
    #[test]
    fn pieces_of_results_in_words() {
        #[derive(Deserialize)]
        struct Case {
            content: Vec<Content>,
            words: String,
        }
        let table = include_str!("../../../../../tests/cases/partial_results.json");
        let cases: Vec<Case> = serde_json::from_str(table).unwrap();
        for Case { content, words } in cases {
            let partial = PartialResult {
                content,
                details: None,
            };
            assert_eq!(partial.to_text(), words);
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
