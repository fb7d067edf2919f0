//! What ends one call and nothing beside it: whoever asked for it takes it back.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use protocol::CallId;
use tokio_util::sync::CancellationToken;

use crate::session::Session;

/// Calls of a session that can be ended alone.
#[derive(Default)]
pub(crate) struct CallCancellations(Mutex<HashMap<CallId, CancellationToken>>);

impl CallCancellations {
    fn lock_tokens(&self) -> MutexGuard<'_, HashMap<CallId, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a call be ended by this token.
    pub fn insert(&self, call: CallId, stop: CancellationToken) {
        self.lock_tokens().insert(call, stop);
    }

    /// The call is over.
    pub fn remove(&self, call: &CallId) {
        self.lock_tokens().remove(call);
    }
}

impl Session {
    /// What ends a call: its own token where it has one, which ends with the run too; else the run's.
    pub(crate) fn call_cancellation(&self, call: &CallId) -> CancellationToken {
        let own = self.cancellations.lock_tokens().get(call).cloned();
        own.unwrap_or_else(|| self.cancellation_token())
    }
}
