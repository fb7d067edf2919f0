//! Projection to and from the 002 envelope: `{type, data | error_text, metadata}` (`S002-61` to `S002-65`).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use ts_rs::TS;

use crate::call::outcome::{Outcome, Truncation};
use crate::{CallState, FailureClass, ToolOutput};

/// The uniform envelope of 002.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Envelope {
    /// It worked (`S002-62`).
    Output {
        /// Tool-specific JSON; `{head}` when it was cut (`S002-65`).
        #[ts(type = "unknown")]
        data: Value,
        /// How long it took, and where the rest is.
        metadata: EnvelopeMetadata,
    },
    /// It did not (`S002-63`).
    Error {
        /// Why.
        error_text: String,
        /// How long it took, and where the rest is.
        metadata: EnvelopeMetadata,
    },
}

/// What every envelope says beside the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct EnvelopeMetadata {
    /// From start to end in milliseconds (`S002-64`).
    pub duration_ms: u64,
    /// Set when only the head is here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// Where the whole stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_path: Option<String>,
}

impl Outcome {
    /// The 002 envelope.
    pub fn to_envelope(&self) -> Envelope {
        let metadata = EnvelopeMetadata {
            duration_ms: self.duration_ms,
            truncated: self.truncated.as_ref().map(|_| true),
            output_path: self
                .truncated
                .as_ref()
                .and_then(|cut| cut.output_path.clone()),
        };
        match (self.is_success(), &self.data, self.truncated.is_some()) {
            (true, _, true) => Envelope::Output {
                data: json!({ "head": self.text }),
                metadata,
            },
            (true, Some(data), false) => Envelope::Output {
                data: data.clone(),
                metadata,
            },
            (true, None, false) => Envelope::Output {
                data: Value::String(self.text.clone()),
                metadata,
            },
            (false, _, _) => Envelope::Error {
                error_text: self.text.clone(),
                metadata,
            },
        }
    }

    /// An outcome from somebody else's envelope. The length of a whole that was cut is not known from it.
    pub fn from_envelope(envelope: &Envelope) -> Self {
        let (mut outcome, metadata) = match envelope {
            Envelope::Error {
                error_text,
                metadata,
            } => {
                let class = FailureClass::ExecutionFailed;
                (
                    Self::new(CallState::Failed, class, error_text, ""),
                    metadata,
                )
            }
            Envelope::Output { data, metadata } => {
                let head = |object: &Map<String, Value>| {
                    let cut = metadata.truncated == Some(true);
                    object
                        .get("head")
                        .and_then(Value::as_str)
                        .filter(|_| cut)
                        .map(str::to_owned)
                };
                let output = match data {
                    Value::String(text) => ToolOutput::new(text, ""),
                    Value::Object(object) if head(object).is_some() => {
                        ToolOutput::new(head(object).unwrap_or_default(), "")
                    }
                    other => ToolOutput {
                        data: Some(other.clone()),
                        ..ToolOutput::new(other.to_string(), "")
                    },
                };
                (Self::from_tool_output(output, ""), metadata)
            }
        };
        outcome.duration_ms = metadata.duration_ms;
        outcome.truncated = (metadata.truncated == Some(true)).then(|| Truncation {
            output_path: metadata.output_path.clone(),
            bytes: outcome.text.len() as u64,
        });
        outcome
    }
}
