//! A call that waits for a decision.

use std::sync::Arc;

use policy::watchdogs::SecretMask;
use protocol::{Decision, Digest, Preview, ToolCall, UserError};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use crate::permissions::policy_input::PolicyInput;
use crate::session::run_state::released_secrets::SecretRelease;

/// A call that waits for a decision, with the channel to the waiting task.
pub(crate) struct PendingCall {
    /// The call, with the arguments that the person wrote in place of the agent's if there are any.
    pub call: ToolCall,
    /// Digest that a decision must name.
    pub digest: Digest,
    /// Preview that is shown, for checking hunks and answers.
    pub preview: Preview,
    /// Input of the verdict, for the grants that may be offered.
    pub input: Arc<PolicyInput>,
    /// Secrets that the card names, each with its receiver: an answer that allows the call lets them go.
    pub releases: Vec<SecretRelease>,
    /// Channel for the decision.
    pub answer: oneshot::Sender<Decision>,
}

impl PendingCall {
    /// Puts the secrets back into the arguments of an *edit*; `mask` is the one through which the person saw the call.
    ///
    /// # Errors
    /// The name of a secret stands where no secret stood.
    pub fn restore_secrets(
        &self,
        mask: &SecretMask,
        decision: Decision,
    ) -> Result<Decision, UserError> {
        Ok(match decision {
            Decision::Edit { arguments } => Decision::Edit {
                arguments: self.restore_arguments(mask, &arguments)?,
            },
            Decision::Allow { .. }
            | Decision::Reject { .. }
            | Decision::Answer { .. }
            | Decision::Skip
            | Decision::DryRun
            | Decision::WithNetwork { .. }
            | Decision::InPlace { .. } => decision,
        })
    }

    /// Puts the secrets back into arguments that the person wrote over those of the call.
    ///
    /// # Errors
    /// The name of a secret stands where no secret stood.
    pub fn restore_arguments(
        &self,
        mask: &SecretMask,
        written: &Map<String, Value>,
    ) -> Result<Map<String, Value>, UserError> {
        let restored = mask.restore_arguments(written, &self.call.arguments);
        restored.ok_or_else(|| {
            UserError::new(
                "The name of a secret in brackets stands for the secret only where it stood before.",
                "Leave it where it was, or write the value itself.",
            )
        })
    }
}
