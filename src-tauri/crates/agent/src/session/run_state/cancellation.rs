//! Cancellation of a single call, on request of the client that made it.

use std::collections::HashMap;

use parking_lot::Mutex;
use protocol::CallId;
use tokio_util::sync::CancellationToken;

use crate::session::Session;

/// Calls of a session that can be cancelled individually.
#[derive(Default)]
pub(crate) struct CallCancellations(Mutex<HashMap<CallId, CancellationToken>>);

impl CallCancellations {
    /// Registers the token that cancels a call.
    pub fn insert(&self, call: CallId, stop: CancellationToken) {
        self.0.lock().insert(call, stop);
    }

    /// Removes the token of a call that is over.
    pub fn remove(&self, call: &CallId) {
        self.0.lock().remove(call);
    }
}

impl Session {
    /// Returns the token that cancels a call: its own if it has one, which is also cancelled with the run; else the
    /// run's.
    pub(crate) fn call_cancellation(&self, call: &CallId) -> CancellationToken {
        let own = self.cancellations.0.lock().get(call).cloned();
        own.unwrap_or_else(|| self.cancellation_token())
    }
}
