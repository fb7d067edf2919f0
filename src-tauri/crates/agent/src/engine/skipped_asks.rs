//! Skipping asks for a while, in one session or in all, on request of the person (M32).

use std::sync::Arc;

use protocol::op::OpReceipt;
use protocol::query::Answer;
use protocol::session::skipped_asks::{AsksResumption, SKIP_MINUTES_MAX, SkippedAsk};
use protocol::{SessionId, UserError};

use crate::host::config::Host;
use crate::session::Session;
use crate::session::engine_state::EngineState;
use crate::session::skipped_asks::{self, AskSkip};

/// Skips asks in a session, or in every session that works until then.
pub(crate) async fn skip_asks(
    engine: &Arc<EngineState>,
    session: Option<SessionId>,
    minutes: Option<u32>,
) -> Result<OpReceipt, UserError> {
    if engine.config.host != Host::Person {
        return Err(UserError::new(
            "Nobody is asked here, so there is nothing to skip.",
            "Write a rule for what may run.",
        ));
    }
    if let Some(minutes) = minutes.filter(|given| !(1..=SKIP_MINUTES_MAX).contains(given)) {
        return Err(UserError::new(
            format!("Asks cannot be skipped for {minutes} minutes."),
            format!("Choose from 1 to {SKIP_MINUTES_MAX} minutes."),
        ));
    }
    let skip = AskSkip {
        until: minutes.map(|minutes| engine.now() + i64::from(minutes) * 60_000),
    };
    match session {
        Some(id) => {
            let session = top_session(engine, &id)?;
            let _nobody_else = session.lock.acquire(&session.tool_context.folder)?;
            skipped_asks::begin_skip(&session, skip).await?;
        }
        None => {
            *engine.ask_skip.write() = Some(skip);
            for session in open_sessions(engine) {
                if session.is_running() && session.parent().is_none() {
                    skipped_asks::begin_skip(&session, skip).await?;
                }
            }
        }
    }
    Ok(OpReceipt::default())
}

/// Lets calls ask again, in a session or in all.
pub(crate) async fn resume_asks(
    engine: &Arc<EngineState>,
    session: Option<SessionId>,
) -> Result<OpReceipt, UserError> {
    // Whoever ends it in one session wants no other to join from now on, nor this one again.
    *engine.ask_skip.write() = None;
    let sessions = match session {
        Some(id) => vec![top_session(engine, &id)?],
        None => open_sessions(engine),
    };
    for session in sessions {
        skipped_asks::end_skip(&session, AsksResumption::Person).await?;
    }
    Ok(OpReceipt::default())
}

/// Returns the calls that a session let through without asking, the newest first.
pub(crate) fn list_skipped_asks(
    engine: &EngineState,
    session: &SessionId,
) -> Result<Answer, UserError> {
    let mut calls = skipped_asks::list_skipped(engine, session)?;
    let total = calls.len() as u64;
    calls.truncate(SkippedAsk::LISTED_MAX);
    Ok(Answer::SkippedAsks { calls, total })
}

/// Records of every session that an earlier end of the app found skipping asks that it asks again.
///
/// # Errors
/// The record cannot be read or written.
pub(crate) async fn end_earlier_skips(engine: &EngineState) -> Result<(), UserError> {
    let sessions = engine.record.overview()?.sessions;
    for view in sessions.iter().filter(|view| view.skipped_asks.is_some()) {
        skipped_asks::record_end(engine, &view.id, AsksResumption::Restart).await?;
    }
    Ok(())
}

/// Returns a session that works for no other: what it skips, its sub-agents skip as well.
fn top_session(engine: &Arc<EngineState>, id: &SessionId) -> Result<Arc<Session>, UserError> {
    let session = engine.session(id)?;
    match session.parent() {
        Some(parent) => Err(UserError::new(
            "This session works for a call of another one.",
            format!("Choose the session {} instead.", parent.session),
        )),
        None => Ok(session),
    }
}

fn open_sessions(engine: &EngineState) -> Vec<Arc<Session>> {
    engine.sessions.lock().values().cloned().collect()
}
