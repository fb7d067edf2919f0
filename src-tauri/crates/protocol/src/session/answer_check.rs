//! What came of an answer in a schema.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// What came of an answer that was asked for in a schema. Neither means that it holds calls and no output yet.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, TS)]
pub struct AnswerCheck {
    /// The output, once there is one; it fits the output schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "unknown")]
    pub output: Option<Value>,
    /// What is wrong with the answer, as the model is told; nothing of it was carried out then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub problem: Option<String>,
}
