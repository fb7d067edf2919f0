//! A call that stands on the desk.

use std::sync::Arc;

use protocol::{Decision, Digest, Preview};
use tokio::sync::oneshot;

use crate::permissions::policy_input::PolicyInput;

/// A call on the desk, and the way to whoever waits for the decision.
pub(crate) struct PendingCall {
    /// What a decision must name.
    pub digest: Digest,
    /// What is shown, for checking hunks and answers.
    pub preview: Preview,
    /// What its verdict was made from, for what may be granted.
    pub input: Arc<PolicyInput>,
    /// Where the decision goes.
    pub answer: oneshot::Sender<Decision>,
}
