//! How a call ended: folded once by the pipeline, projected from here to every shape that somebody asks for (M01).

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

/// Output that was too long: what is here is its head (`S002-65`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Truncation {
    /// The absolute path of the file that holds the whole, which the agent can read. None where there is no such file: the tool
    /// can be asked for the rest, or the rest is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub output_path: Option<String>,
    /// Length of the whole output in bytes.
    pub bytes: u64,
}

/// How a call ended.
///
/// The members keep the faces of a result apart (`S003-68` to `S003-72`): `text` and `content` are what the tool gave,
/// nothing added; `notes` and `empty` are what the model is told beside it; `message` is for the person; `data` is for
/// programs; `details` is for the log. What each reader gets is made of them by the projections and the faces below.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct Outcome {
    /// One of the settled states.
    pub state: CallState,
    /// Why it did not work; none if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<FailureClass>,
    /// What the tool gave, as text: its output (the head when truncated), or the error's display text. Empty when it
    /// gave nothing.
    pub text: String,
    /// The words with which a model is told that there is nothing; set only when there is (B.003: empty is not missing).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<String>,
    /// What the model is told after the output and is no part of it: where the rest is, the person's note, how many
    /// secrets were masked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What the tool gave beside the text: images, pointers, more text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<Content>,
    /// One line for the person.
    pub message: String,
    /// Text for the log, also shown, where a tool told it apart from the text (`S000-16`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Structured output; what later steps and other programs read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown")]
    pub data: Option<Value>,
    /// Free facts for the log and the person; never sent to the model (`S001-18`).
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
    /// From start to end in milliseconds; 0 for a call that never started (`S002-64`).
    pub duration_ms: u64,
    /// When it ended; 0 where that is not known.
    #[serde(default, skip_serializing_if = "is_unset")]
    #[ts(optional, as = "Option<At>")]
    pub ended_at: At,
    /// Set when the text is only the head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated: Option<Truncation>,
    /// The model gets another turn although the call failed (M04).
    pub needs_followup: bool,
    /// The run ends here.
    pub terminal: bool,
    /// Secrets that stand as `***` in what is kept of the result.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub secrets_masked: u32,
    /// Digest of the whole output text, so that a replay can be compared.
    pub digest: Digest,
}

fn is_unset(at: &At) -> bool {
    *at == 0
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Outcome {
    /// No tool ran, or it failed: the model hears why and may go on (M04).
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

    /// What a tool gave back, as it is: nothing cut, nothing masked. `empty` are the words for a tool that gave nothing
    /// and has no words of its own for it. Only a tool's own failure ends the run (M04).
    pub fn from_tool_output(output: ToolOutput, empty: &str) -> Self {
        let nothing = output.text.is_empty() && output.content.is_empty();
        let (state, class) = match output.success {
            true => (CallState::Done, None),
            false => (CallState::Failed, Some(FailureClass::ExecutionFailed)),
        };
        Self {
            state,
            class,
            empty: nothing.then(|| output.empty.unwrap_or_else(|| empty.to_owned())),
            notes: Vec::new(),
            content: output.content,
            message: output.message,
            error: output.error,
            data: output.data,
            details: output.details,
            child: output.child,
            next_action: output.next_action,
            extra: output.extra,
            duration_ms: 0,
            ended_at: 0,
            truncated: output.truncated,
            needs_followup: output.needs_followup,
            terminal: output.terminal,
            secrets_masked: output.secrets_masked,
            digest: Digest::from_bytes(output.text.as_bytes()),
            text: output.text,
        }
    }

    /// What a tool's error becomes; its display text is what the model reads (`S001-25`).
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

    /// Whether the call did what it was asked to do.
    pub fn is_success(&self) -> bool {
        matches!(self.state, CallState::Done)
    }

    /// Whether the run ends with it: the one rule of completion (`S000-36` to `S000-41`).
    pub fn is_terminal(&self) -> bool {
        self.terminal || (!self.is_success() && !self.needs_followup)
    }
}

/// The first sentence of the first line.
fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    let end = line.find(". ").map_or(line.len(), |at| at + 1);
    &line[..end]
}
