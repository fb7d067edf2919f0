//! A call that stands on the desk.

use std::sync::Arc;

use protocol::{Decision, Digest, Preview};
use tokio::sync::oneshot;

use crate::weighed::Weighed;

/// A call on the desk, and the way to whoever waits for the decision.
pub(crate) struct Waiting {
    /// What a decision must name.
    pub shown: Digest,
    /// What is shown, for checking hunks and answers.
    pub preview: Preview,
    /// What its verdict was made from, for what may be granted.
    pub weighed: Arc<Weighed>,
    /// Where the decision goes.
    pub answer: oneshot::Sender<Decision>,
}
