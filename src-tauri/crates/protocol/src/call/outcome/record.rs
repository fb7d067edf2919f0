//! Projection to the 003 result record, with the five faces apart.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::call::outcome::projections::{PersistedPreview, ResultReference};
use crate::call::outcome::{FailureClass, Outcome};
use crate::{At, CallId, CallState, Content};

/// The version of 003's records.
const SCHEMA_VERSION: &str = "0.2.0";

/// Status of a result, in the terms of 003.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ResultStatus {
    /// The call succeeded, and the output is complete.
    Succeeded,
    /// The call succeeded, and the output is only the head.
    PartialSucceeded,
    /// The tool tried and failed.
    Failed,
    /// A gate denied the call.
    Denied,
    /// A person rejected the call.
    Rejected,
    /// The call was stopped.
    Canceled,
    /// The call, or the wait for an answer, took too long.
    TimedOut,
    /// The call never began; the result was made so that every call has one (`S001-36`).
    SyntheticError,
}

/// Error of a call that has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ResultError {
    /// Class of the failure.
    pub class: FailureClass,
    /// Text for the model.
    pub message: String,
    /// Text for the log, where a tool gave one that differs from the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub debug: Option<String>,
    /// Whether another attempt of the model makes sense.
    pub is_recoverable: bool,
}

/// A 003 result record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct ResultRecord {
    /// Version of the record's schema.
    pub schema_version: String,
    /// Id of the result: the call's id, since a call has one result.
    pub result_id: String,
    /// The call.
    pub invocation_id: CallId,
    /// Status of the result.
    pub status: ResultStatus,
    /// The app's own state of the call, of which `status` is the 003 form.
    pub state: CallState,
    /// When the result was created.
    pub created_at: At,
    /// Whether the call failed.
    pub is_error: bool,
    /// Output of the tool, nothing added; empty when the tool gave none (`S003-72`).
    pub content: Vec<Content>,
    /// Structured output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(type = "unknown")]
    pub structured_content: Option<Value>,
    /// Text for the model (`S003-68`).
    pub model_facing_content: String,
    /// Text that marks an empty output in `model_facing_content`; none for an output that is not empty: empty is not
    /// missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty_marker: Option<String>,
    /// Summary for the person (`S003-68`).
    pub ui_facing_summary: String,
    /// Text by which a search finds the result (`S003-69`).
    pub transcript_search_text: String,
    /// Preview of the payload in a list (`S003-70`).
    pub persisted_preview: PersistedPreview,
    /// References of the result (`S003-71`).
    pub refs: Vec<ResultReference>,
    /// Redaction of the result: `none` or `masked`.
    pub redaction_state: String,
    /// Number of secrets replaced by `***`.
    pub secrets_masked: u32,
    /// Duration from start to end, in milliseconds.
    pub duration_ms: u64,
    /// Error of the call; none if it succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ResultError>,
}

impl Outcome {
    /// Returns the 003 result record. `details` is for the log and in none of the record's faces.
    pub fn to_record(&self, call: &CallId) -> ResultRecord {
        let text = (!self.text.is_empty()).then(|| Content::text(&self.text));
        let inline = self.content.iter().filter(|item| match item {
            Content::Text { .. } | Content::Image { .. } => true,
            Content::Resource { .. } => false,
        });
        ResultRecord {
            schema_version: SCHEMA_VERSION.to_owned(),
            result_id: call.0.clone(),
            invocation_id: call.clone(),
            status: self.result_status(),
            state: self.state,
            created_at: self.ended_at,
            is_error: !self.is_success(),
            content: text.into_iter().chain(inline.cloned()).collect(),
            structured_content: self.data.clone(),
            model_facing_content: self.model_text(),
            empty_marker: self.empty.clone(),
            ui_facing_summary: self.ui_summary(),
            transcript_search_text: self.search_text(),
            persisted_preview: self.preview(),
            refs: self.references(),
            redaction_state: match self.secrets_masked {
                0 => "none".to_owned(),
                _ => "masked".to_owned(),
            },
            secrets_masked: self.secrets_masked,
            duration_ms: self.duration_ms,
            error: self.class.map(|class| ResultError {
                class,
                message: self.text.clone(),
                debug: self.error.clone(),
                is_recoverable: !self.is_terminal(),
            }),
        }
    }

    fn result_status(&self) -> ResultStatus {
        match self.state {
            CallState::Done | CallState::Undone if self.truncated.is_some() => {
                ResultStatus::PartialSucceeded
            }
            CallState::Done | CallState::Undone => ResultStatus::Succeeded,
            CallState::Failed if self.class == Some(FailureClass::Timeout) => {
                ResultStatus::TimedOut
            }
            CallState::Failed => ResultStatus::Failed,
            CallState::Denied => ResultStatus::Denied,
            CallState::Rejected => ResultStatus::Rejected,
            CallState::Expired => ResultStatus::TimedOut,
            CallState::Interrupted => ResultStatus::Canceled,
            // The last three have no result yet; whoever asks for one gets one that says so.
            CallState::Skipped | CallState::Proposed | CallState::Waiting | CallState::Running => {
                ResultStatus::SyntheticError
            }
        }
    }
}
