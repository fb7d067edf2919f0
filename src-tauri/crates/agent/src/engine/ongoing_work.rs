//! What goes on in the engine: for a host that would end it, and before a session is put away.

use std::collections::BTreeSet;

use protocol::engine_process::OngoingWork;
use protocol::view::entry::SessionView;
use protocol::{SessionId, SessionState, UserError};

use crate::engine::Engine;
use crate::session::engine_state::EngineState;

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

/// Whether a session is at work in any process, or has a call that waits for the person, also where the process that asked
/// is gone.
pub(super) fn is_active(engine: &EngineState, view: &SessionView) -> bool {
    // A run that has just begun is not on record yet.
    let open = engine.sessions.lock().get(&view.id).cloned();
    matches!(view.state, SessionState::Running | SessionState::Waiting)
        || open.is_some_and(|session| session.is_running())
}

/// Checks that a session is not active.
///
/// # Errors
/// It is, and `next` says what the person can do; or the record cannot be read.
pub(super) fn check_is_idle(
    engine: &EngineState,
    id: &SessionId,
    next: &str,
) -> Result<(), UserError> {
    match engine.record.session(id)? {
        Some(view) if is_active(engine, &view) => Err(UserError::new(
            "This session is at work or waits for you.",
            next,
        )),
        Some(_) | None => Ok(()),
    }
}
