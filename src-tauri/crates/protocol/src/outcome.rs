//! How a call ended: folded once by the pipeline, projected from here to every shape that somebody asks for (M01).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use ts_rs::TS;

use crate::{Digest, ToolResult};

/// Where a call is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// Asked for by the model; not judged yet.
    Proposed,
    /// On the desk: a person is needed.
    Waiting,
    /// Let through and at work.
    Running,
    /// Ended well.
    Done,
    /// Ended badly; the tool says why.
    Failed,
    /// A rule, a scope or the headless host said no.
    Denied,
    /// A person said no.
    Rejected,
    /// Nobody answered in time.
    Expired,
    /// Stopped before its end, by a person or by the app's own end.
    Interrupted,
    /// Never started, because the person steered or stopped the turn first.
    Skipped,
    /// Took effect, and the effect was taken back.
    Undone,
}

impl CallState {
    /// Whether nothing more will happen to the call by itself.
    pub fn is_settled(self) -> bool {
        match self {
            Self::Proposed | Self::Waiting | Self::Running => false,
            Self::Done
            | Self::Failed
            | Self::Denied
            | Self::Rejected
            | Self::Expired
            | Self::Interrupted
            | Self::Skipped
            | Self::Undone => true,
        }
    }

    /// The name as written in events and search filters.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Interrupted => "interrupted",
            Self::Skipped => "skipped",
            Self::Undone => "undone",
        }
    }
}

/// Output that was too long: the rest stands in a file that the agent can read (`S002-65`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Truncated {
    /// The sidecar file's absolute path.
    pub output_path: String,
    /// Length of the whole output in bytes.
    pub bytes: u64,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Outcome {
    /// One of the settled states.
    pub state: CallState,
    /// What the model reads: the output (its head when truncated), or the error's display text.
    pub text: String,
    /// One line for the person.
    pub message: String,
    /// Structured output, not for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown")]
    pub data: Option<Value>,
    /// From start to end in milliseconds; 0 for a call that never started (`S002-64`).
    pub duration_ms: u64,
    /// Set when the text is only the head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncated>,
    /// The model gets another turn although the call failed (M04).
    pub needs_followup: bool,
    /// The run ends here.
    pub terminal: bool,
    /// Digest of the whole output text, so that a replay can be compared.
    pub digest: Digest,
}

impl Outcome {
    /// Whether the call did what it was asked to do.
    pub fn is_success(&self) -> bool {
        matches!(self.state, CallState::Done)
    }

    /// The 000 result.
    pub fn to_result(&self) -> ToolResult {
        let success = self.is_success();
        ToolResult {
            success,
            terminal: self.terminal.then_some(true),
            needs_followup: (!success).then_some(self.needs_followup),
            next_action: None,
            message: Some(self.message.clone()),
            error: (!success).then(|| self.text.clone()),
            data: self.data.clone().map(|data| match data {
                Value::Object(object) => object,
                other => serde_json::Map::from_iter([("value".to_owned(), other)]),
            }),
            other: serde_json::Map::new(),
        }
    }

    /// The 002 envelope: `{type, data | error_text, metadata}` (`S002-61` to `S002-65`).
    pub fn to_envelope(&self) -> Value {
        let mut metadata = json!({ "duration_ms": self.duration_ms });
        if let Some(truncated) = &self.truncated {
            metadata["truncated"] = json!(true);
            metadata["output_path"] = json!(truncated.output_path);
        }
        match (self.is_success(), self.truncated.is_some()) {
            (true, true) => {
                json!({ "type": "output", "data": { "head": self.text }, "metadata": metadata })
            }
            (true, false) => {
                json!({ "type": "output", "data": self.data.clone().unwrap_or(Value::String(self.text.clone())), "metadata": metadata })
            }
            (false, _) => json!({ "type": "error", "error_text": self.text, "metadata": metadata }),
        }
    }
}
