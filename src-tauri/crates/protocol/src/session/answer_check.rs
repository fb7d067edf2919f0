//! Result of checking an answer against a schema.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// Result of checking an answer against the requested schema. Neither field is set if the answer holds calls and no
/// output yet.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, TS)]
pub struct AnswerCheck {
    /// The output, which fits the schema; none until there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    pub output: Option<Value>,
    /// Error in the answer, as the model is told; if set, nothing in the answer was carried out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<String>,
}
