//! A call that waits for a decision.

use std::sync::Arc;

use protocol::{Decision, Digest, Preview};
use tokio::sync::oneshot;

use crate::permissions::policy_input::PolicyInput;
use crate::session::run_state::released_secrets::SecretRelease;

/// A call that waits for a decision, with the channel to the waiting task.
pub(crate) struct PendingCall {
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
