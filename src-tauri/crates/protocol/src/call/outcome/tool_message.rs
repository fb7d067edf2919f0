//! Projection to the 001 result, with the members that the runtime adds before the result enters a
//! conversation (`S001-20`).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::call::outcome::Outcome;
use crate::{At, CallId, Content, LoopId};

/// A 001 tool result as a conversation holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolMessage {
    /// The call (`S001-20`).
    pub tool_call_id: CallId,
    /// The tool's name as the model called it (`S001-20`).
    pub tool_name: String,
    /// Text, images, pointers (`S001-17`): everything that a model may read.
    pub content: Vec<Content>,
    /// Free JSON that is never sent to a model; null for none (`S001-18`).
    #[ts(type = "unknown")]
    pub details: Value,
    /// The run of a sub-agent, always the first one of its session; none for every other tool (`S001-19`).
    pub child_loop_id: Option<LoopId>,
    /// Whether the call failed (`S001-20`).
    pub is_error: bool,
    /// When the call ended (`S001-20`).
    pub timestamp: At,
}

impl Outcome {
    /// Returns the 001 result.
    pub fn to_tool_message(&self, call: &CallId, name: &str) -> ToolMessage {
        let mut content = vec![Content::text(self.model_text())];
        content.extend(self.images());
        ToolMessage {
            tool_call_id: call.clone(),
            tool_name: name.to_owned(),
            content,
            details: self.details.clone().unwrap_or(Value::Null),
            child_loop_id: self.child.as_ref().map(|child| LoopId::new(child, 1)),
            is_error: !self.is_success(),
            timestamp: self.ended_at,
        }
    }
}
