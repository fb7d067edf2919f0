//! Projection to and from the 000 result.

use serde_json::Map;

use crate::call::outcome::Outcome;
use crate::{ToolOutput, ToolResult};

impl Outcome {
    /// Returns the 000 result. `data` that is not an object is put under `value`, since 000 requires an object
    /// (`S000-19`).
    pub fn to_result(&self) -> ToolResult {
        let success = self.is_success();
        ToolResult {
            success,
            terminal: self.terminal.then_some(true),
            needs_followup: (!success || self.needs_followup).then_some(self.needs_followup),
            next_action: self.next_action.clone(),
            message: Some(self.message.clone()),
            error: match success {
                true => self.error.clone(),
                false => Some(self.error.clone().unwrap_or_else(|| self.text.clone())),
            },
            data: self.data.clone().map(|data| match data {
                serde_json::Value::Object(object) => object,
                other => Map::from_iter([("value".to_owned(), other)]),
            }),
            other: self.extra.clone(),
        }
    }

    /// Returns an outcome from a 000 result of another implementation. Parts that the result cannot hold (times,
    /// digests of longer texts) are empty.
    pub fn from_result(result: &ToolResult) -> Self {
        Self::from_tool_output(ToolOutput::from(result.clone()), "")
    }
}
