//! Outcome of a call: folded once by the pipeline, then projected to every other shape (M01).

mod envelope;
mod failure_class;
mod output;
mod projections;
#[cfg(test)]
mod properties;
mod record;
mod result;
mod tool_message;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

pub use crate::call::outcome::envelope::{Envelope, EnvelopeMetadata};
pub use crate::call::outcome::failure_class::FailureClass;
pub use crate::call::outcome::output::CallOutput;
pub use crate::call::outcome::projections::{PersistedPreview, ReferenceKind, ResultReference};
pub use crate::call::outcome::record::{ResultError, ResultRecord, ResultStatus};
pub use crate::call::outcome::tool_message::ToolMessage;

use crate::{At, Content, Digest, SessionId, ToolError, ToolOutput};

/// State of a call in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// The model asked for the call, which has no verdict yet.
    #[default]
    Proposed,
    /// The call waits for a person.
    Waiting,
    /// The call was allowed and is running.
    Running,
    /// The call succeeded.
    Done,
    /// The call failed; the tool says why.
    Failed,
    /// A rule, a scope or the headless host denied the call.
    Denied,
    /// A person rejected the call.
    Rejected,
    /// Nobody answered in time.
    Expired,
    /// The call was stopped before its end, by a person or by the end of the app.
    Interrupted,
    /// The call never started, because the person steered or stopped the turn first.
    Skipped,
    /// The call took effect, and the effects were undone.
    Undone,
}

impl CallState {
    /// Returns whether nothing more will happen to the call by itself.
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

    /// Returns the name as written in events and search filters.
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

/// Marks output that was too long and is reduced to its head (`S002-65`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Truncation {
    /// Absolute path of the file that holds the whole output, which the agent can read. None where there is no such
    /// file: the tool can be asked for the rest, or the rest is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub output_path: Option<String>,
    /// Length of the whole output in bytes.
    pub bytes: u64,
}

/// Outcome of a call.
///
/// The members keep the faces of a result apart (`S003-68` to `S003-72`): `text` and `content` are the tool's own
/// output, nothing added; `notes` and `empty` are told to the model beside it; `message` is for the person; `data` is
/// for programs; `details` is for the log. The projections and the faces below combine the members for each reader.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Outcome {
    /// State of the call; one of the settled states.
    pub state: CallState,
    /// Class of the failure; none if the call succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<FailureClass>,
    /// Output of the tool as text (the head when truncated), or the error's display text. Empty when the tool gave no
    /// text.
    pub text: String,
    /// Text that tells a model that the output is empty; set only when it is (B.003: empty is not missing).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<String>,
    /// Notes for the model after the output and not part of it: the location of the rest, the person's note, the number
    /// of masked secrets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Output of the tool beside the text: images, pointers, more text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<Content>,
    /// One line for the person.
    pub message: String,
    /// Text for the log, also shown, where a tool gave one that differs from `text` (`S000-16`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Structured output, for later steps and other programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown")]
    pub data: Option<Value>,
    /// Free-form details for the log and the person; never sent to the model (`S001-18`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown")]
    pub details: Option<Value>,
    /// The session that a sub-agent worked in (`S001-19`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<SessionId>,
    /// A machine-readable hint for the next operation (`S000-14`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_action: Option<String>,
    /// Members of a tool's own 000 result that this version does not know (`S000-18`).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[ts(type = "Record<string, unknown>")]
    pub extra: Map<String, Value>,
    /// Duration from start to end, in milliseconds; 0 for a call that never started (`S002-64`).
    pub duration_ms: u64,
    /// When the call ended; 0 where that is not known.
    #[serde(default, skip_serializing_if = "is_default")]
    #[ts(optional, as = "Option<At>")]
    pub ended_at: At,
    /// Set when the text is only the head of the output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncation>,
    /// Whether the model gets another turn although the call failed (M04).
    pub needs_followup: bool,
    /// Whether the run ends with this call.
    pub terminal: bool,
    /// Number of secrets that are replaced by `***` in the kept result.
    #[serde(default, skip_serializing_if = "is_default")]
    pub secrets_masked: u32,
    /// Digest of the whole output text, for comparison by a replay.
    pub digest: Digest,
}

/// Whether a member has its default and is left out.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Outcome {
    /// Returns the outcome of a call for which no tool ran, or whose tool failed: the model is told why and may go on
    /// (M04).
    pub fn new(
        state: CallState,
        class: FailureClass,
        text: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        let text = text.into();
        Self {
            state,
            class: Some(class),
            empty: None,
            notes: Vec::new(),
            content: Vec::new(),
            message: message.into(),
            error: None,
            data: None,
            details: None,
            child: None,
            next_action: None,
            extra: Map::new(),
            duration_ms: 0,
            ended_at: 0,
            truncated: None,
            needs_followup: true,
            terminal: false,
            secrets_masked: 0,
            digest: Digest::from_bytes(text.as_bytes()),
            text,
        }
    }

    /// Returns the outcome of a tool's output, unchanged: nothing truncated, nothing masked. `empty` is the text for an
    /// empty output that brings no such text of its own. Only a tool's own failure ends the run (M04).
    pub fn from_tool_output(output: ToolOutput, empty: &str) -> Self {
        let nothing = output.text.is_empty() && output.content.is_empty();
        let (state, class) = match output.success {
            true => (CallState::Done, None),
            false => (CallState::Failed, Some(FailureClass::ExecutionFailed)),
        };
        Self {
            class,
            empty: nothing.then(|| output.empty.unwrap_or_else(|| empty.to_owned())),
            content: output.content,
            error: output.error,
            data: output.data,
            details: output.details,
            child: output.child,
            next_action: output.next_action,
            extra: output.extra,
            truncated: output.truncated,
            needs_followup: output.needs_followup,
            terminal: output.terminal,
            secrets_masked: output.secrets_masked,
            ..Self::new(
                state,
                FailureClass::ExecutionFailed,
                output.text,
                output.message,
            )
        }
    }

    /// Returns the outcome of a tool's error; the model reads the error's display text (`S001-25`).
    pub fn from_tool_error(error: &ToolError) -> Self {
        let (state, class) = match error {
            ToolError::Cancelled => (CallState::Interrupted, FailureClass::Canceled),
            ToolError::NotFound(_) => (CallState::Failed, FailureClass::UnknownTool),
            ToolError::InvalidArgs(_) => (CallState::Failed, FailureClass::InvalidArguments),
            ToolError::TimedOut(_) => (CallState::Failed, FailureClass::Timeout),
            ToolError::Failed(_) | ToolError::Stale(_) => {
                (CallState::Failed, FailureClass::ExecutionFailed)
            }
        };
        let text = error.to_string();
        let message = first_sentence(&text).to_owned();
        Self::new(state, class, text, message)
    }

    /// Returns whether the call succeeded.
    pub fn is_success(&self) -> bool {
        matches!(self.state, CallState::Done)
    }

    /// Returns whether the run ends with this call: the one rule of completion (`S000-36` to `S000-41`).
    pub fn is_terminal(&self) -> bool {
        self.terminal || (!self.is_success() && !self.needs_followup)
    }
}

/// Returns the first sentence of the first line.
fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    let end = line.find(". ").map_or(line.len(), |at| at + 1);
    &line[..end]
}
