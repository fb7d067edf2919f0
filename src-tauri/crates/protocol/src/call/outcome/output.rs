//! Projection to 004: the value under `_output` of a call, or its error (`S004-48`).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::outcome::Outcome;

/// Output or error of a call, in the terms of 004.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum CallOutput {
    /// The result, latent or explicit: structured where the tool gave structure, else its text.
    #[serde(rename = "_output")]
    Output(Value),
    /// Why there is no output.
    #[serde(rename = "error")]
    Error(String),
}

impl Outcome {
    /// Returns the 004 output.
    pub fn to_output(&self) -> CallOutput {
        match (self.is_success(), &self.data) {
            (true, Some(data)) => CallOutput::Output(data.clone()),
            (true, None) => CallOutput::Output(Value::String(self.text.clone())),
            (false, _) => CallOutput::Error(self.text.clone()),
        }
    }
}
