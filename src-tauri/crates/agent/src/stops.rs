//! What ends one call and nothing beside it: whoever asked for it takes it back.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use protocol::CallId;
use tokio_util::sync::CancellationToken;

use crate::session::Session;

/// Calls of a session that can be ended alone.
#[derive(Default)]
pub(crate) struct Stops(Mutex<HashMap<CallId, CancellationToken>>);

impl Stops {
    fn all(&self) -> MutexGuard<'_, HashMap<CallId, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a call be ended by this token.
    pub fn put(&self, call: CallId, stop: CancellationToken) {
        self.all().insert(call, stop);
    }

    /// The call is over.
    pub fn take(&self, call: &CallId) {
        self.all().remove(call);
    }
}

impl Session {
    /// What ends a call: its own token where it has one, which ends with the run too; else the run's.
    pub(crate) fn stop_of(&self, call: &CallId) -> CancellationToken {
        let own = self.stops.all().get(call).cloned();
        own.unwrap_or_else(|| self.stop_token())
    }
}
