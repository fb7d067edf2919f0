//! Errors for a person: a description of what happened, and of what to do next.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::text::display_text::to_sentence;

/// An error that a person should know of.
///
/// `message` is one sentence that names the offending thing, `hint` the next step, `context` the chain of causes for
/// the log. Tool failures that the model should correct are not user errors; they are [`crate::ToolError`] values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UserError {
    /// Description of what happened, in one sentence.
    pub message: String,
    /// Next step for the person, in one sentence; empty when there is nothing to do.
    #[serde(default)]
    pub hint: String,
    /// The causes, outermost first; for the log and the *Raw* view.
    #[serde(default)]
    pub context: Vec<String>,
    /// What is wrong, where the person can be led to what mends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cause: Option<FaultCause>,
}

/// A cause of an error that the interface knows a way on from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FaultCause {
    /// The provider needs a key, and there is none.
    KeyMissing,
    /// The provider refused the key.
    KeyRefused,
    /// The provider wants to be paid: credit or a quota is used up.
    PaymentRequired,
    /// The provider does not know the model.
    ModelUnknown,
    /// The settings of the provider do not work.
    ProviderNotSetUp,
    /// The system keychain cannot be used on this machine.
    KeychainUnusable,
}

impl UserError {
    /// Returns an error with its message and its next step.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
            context: Vec::new(),
            cause: None,
        }
    }

    /// Returns the same error with its cause.
    #[must_use]
    pub fn with_cause(self, cause: FaultCause) -> Self {
        Self {
            cause: Some(cause),
            ..self
        }
    }

    /// Returns the same error with the chain of causes of `error` added.
    #[must_use]
    pub fn with_source(mut self, error: &dyn std::error::Error) -> Self {
        let mut next = Some(error);
        while let Some(cause) = next {
            self.context.push(cause.to_string());
            next = cause.source();
        }
        self
    }
}

impl std::fmt::Display for UserError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.hint.is_empty() {
            true => f.write_str(&self.message),
            false => write!(f, "{} {}", to_sentence(&self.message), self.hint),
        }
    }
}

impl std::error::Error for UserError {}
