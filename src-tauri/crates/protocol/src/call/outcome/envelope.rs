//! Projection to the 002 envelope: `{type, data | error_text, metadata}` (`S002-61` to `S002-65`).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use ts_rs::TS;

use crate::call::outcome::Outcome;

/// The uniform envelope of 002.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Envelope {
    /// The call succeeded (`S002-62`).
    Output {
        /// Tool-specific JSON; `{head}` when the output was truncated (`S002-65`).
        #[ts(type = "unknown")]
        data: Value,
        /// Duration, and location of the whole output.
        metadata: EnvelopeMetadata,
    },
    /// The call failed (`S002-63`).
    Error {
        /// Description of the failure.
        error_text: String,
        /// Duration, and location of the whole output.
        metadata: EnvelopeMetadata,
    },
}

/// Metadata that every envelope carries beside the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct EnvelopeMetadata {
    /// Duration from start to end, in milliseconds (`S002-64`).
    pub duration_ms: u64,
    /// Set when the data is only the head of the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
    /// Path of the file with the whole output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_path: Option<String>,
}

impl Outcome {
    /// Returns the 002 envelope.
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
}
