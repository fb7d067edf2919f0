//! What goes on in the engine, for a host that would end it.

use std::collections::BTreeSet;

use protocol::engine_process::OngoingWork;
use protocol::{SessionId, UserError};

use crate::engine::Engine;

impl Engine {
    /// Returns what would be interrupted if the engine ended now: sessions at work in any process on the data folder, and
    /// calls that wait.
    ///
    /// # Errors
    /// The record cannot be read.
    pub fn ongoing_work(&self) -> Result<OngoingWork, UserError> {
        let record = &self.state.record;
        let recorded = record.active_sessions()?.into_iter().map(|view| view.id);
        let mut active: BTreeSet<SessionId> = recorded.collect();
        // A run that has just begun is not on record yet.
        let open = self.state.sessions.lock();
        let running = open.iter().filter(|(_, session)| session.is_running());
        active.extend(running.map(|(id, _)| id.clone()));
        drop(open);
        Ok(OngoingWork {
            active_sessions: active.len(),
            waiting_calls: record.desk()?.len(),
        })
    }
}
