//! Recovery after the last end of the app: nothing acknowledged is lost, nothing runs twice.

use std::sync::Arc;

use protocol::event::{CallChange, MessageChange};
use protocol::view::entry::SessionView;
use protocol::{
    CallId, CallState, EventBody, NoticeLevel, SessionState, UndoState, Usage, UserError,
};

use runtime::{DryRunEnvironment, History};

use crate::pipeline::outcome;
use crate::run;
use crate::session::Session;
use crate::session::background;
use crate::session::engine_state::EngineState;
use crate::session::session_lock;
use crate::undo;

/// Finishes interrupted restores, ends calls that were running, and restores calls that were waiting for a decision. If
/// something cannot be recovered, such as a workspace that is gone or a copy that cannot be read, the error is
/// reported, everything else still opens, and the next start tries again.
pub(crate) async fn run_recovery(engine: &Arc<EngineState>) -> Result<(), UserError> {
    if let Err(fault) = finish_restores(engine).await {
        tracing::warn!(%fault, "not every restore is finished");
        engine.raise_error(&fault);
    }
    recover_snapshots(engine).await?;
    undo::reconcile_history(engine).await?;
    for fault in recover_sessions(engine).await? {
        engine.raise_error(&fault);
    }
    Ok(())
}

async fn finish_restores(engine: &Arc<EngineState>) -> Result<(), UserError> {
    let data_dir = engine.config.data_dir.clone();
    let recover = move |history: &History| {
        history
            .recover_interrupted(|session| session_lock::is_locked_or_unknown(&data_dir, session))
    };
    let restored = undo::with_history(engine, recover).await?;
    if !restored.is_empty() {
        tracing::info!(
            entries = restored.len(),
            "finished restores that were interrupted"
        );
    }
    Ok(())
}

/// Recovers what a process that works beside a window may recover: work that no process holds any more is ended. Calls
/// that wait for a person are left to a process that can ask one.
pub(crate) async fn recover_abandoned(engine: &Arc<EngineState>) -> Result<(), UserError> {
    recover_snapshots(engine).await?;
    // A session that cannot be recovered is no error of the work that the caller asks for.
    let _warned = recover_sessions(engine).await?;
    Ok(())
}

/// Recovers every session whose process ended in the middle of its work. Returns the errors of those that could not be
/// recovered.
async fn recover_sessions(engine: &Arc<EngineState>) -> Result<Vec<UserError>, UserError> {
    let mut faults = Vec::new();
    for view in engine.record.active_sessions()? {
        if let Err(fault) = recover_if_abandoned(engine, &view).await {
            tracing::warn!(%fault, session = %view.id, "a session could not be taken up");
            faults.push(fault);
        }
    }
    Ok(faults)
}

/// Records the effects of commands that ran for real when the app ended, each in its own session.
async fn recover_snapshots(engine: &Arc<EngineState>) -> Result<(), UserError> {
    let up = undo::with_history(engine, |history| {
        Ok(DryRunEnvironment::recover_runs(history))
    })
    .await?;
    for error in up.failed {
        engine.raise_error(&error.into());
    }
    for entry in up.entries {
        match engine.session(&entry.session) {
            Ok(session) => {
                let call = entry.call.clone();
                let event = EventBody::for_call(&call, CallChange::UndoPrepared { entry });
                session.journal.record_synced(event).await?;
            }
            Err(fault) => tracing::warn!(%fault, entry = %entry.id, "nobody is notified of it"),
        }
    }
    Ok(())
}

/// Recovers a session if its process ended in the middle of its work. Returns whether it did.
pub(crate) async fn recover_if_abandoned(
    engine: &Arc<EngineState>,
    view: &SessionView,
) -> Result<bool, UserError> {
    let was_at_work = match view.state {
        SessionState::Running => true,
        SessionState::Waiting => engine.config.recovers,
        SessionState::Idle
        | SessionState::Done
        | SessionState::Failed
        | SessionState::Interrupted => false,
    };
    // A command line or a gateway may be at it.
    if !was_at_work || session_lock::is_locked(&engine.config.data_dir, &view.id)? {
        return Ok(false);
    }
    let session = engine.session(&view.id)?;
    let Ok(_held) = session.lock.acquire(&session.tool_context.folder) else {
        return Ok(false);
    };
    let now = engine.record.session(&view.id)?;
    if now.is_none_or(|now| now.state != view.state) {
        // Another process was quicker, and what was read of it may be from before.
        engine.remove_session(&view.id);
        return Ok(false);
    }
    recover_session(engine, &session).await
}

/// Recovers a session, and returns whether it was recovered: if a call waits for a person and there is none, nothing is
/// done.
async fn recover_session(
    engine: &Arc<EngineState>,
    session: &Arc<Session>,
) -> Result<bool, UserError> {
    let open = session.with_conversation(|conversation| conversation.open.clone());
    let waits = open.iter().any(|call| call.waiting);
    if waits && !engine.config.recovers {
        return Ok(false);
    }
    end_unfinished_turn(engine, session)?;
    for begun in open.into_iter().filter(|call| call.started) {
        // Whether it took effect is not known, so it is never run again (B.002: orphaned calls).
        let mut outcome = outcome::stopped_outcome(CallState::Interrupted);
        let effect = unfinished_effect(engine, session, &begun.call.id).await?;
        outcome.text = format!("The app ended while this ran. {effect}");
        outcome.message = "The app ended while this ran".to_owned();
        run::end_call(session, &begun.call.id, outcome);
    }
    if session.parent().is_some() {
        // The call that it worked for is over, so nobody waits for it.
        for call in session.with_conversation(|conversation| conversation.unanswered_calls()) {
            run::end_call(
                session,
                &call,
                outcome::stopped_outcome(CallState::Interrupted),
            );
        }
        session.set_state(SessionState::Interrupted);
        background::record_lost_task(session).await?;
    } else if waits {
        run::start_run(session)?;
    } else {
        session.journal.record(EventBody::notice(
            NoticeLevel::Note,
            UserError::new(
                "The app ended while this session was at work.",
                "Go on with Resume, or say something.",
            ),
        ));
        session.set_state(SessionState::Interrupted);
    }
    session.journal.sync().await?;
    Ok(true)
}

/// Returns what is known of the effect of a call that was running: a change of files is known from its copy for undo,
/// and a partial change is reverted.
async fn unfinished_effect(
    engine: &Arc<EngineState>,
    session: &Session,
    call: &CallId,
) -> Result<&'static str, UserError> {
    let view = engine.call_view(&session.id, call)?;
    let Some(undo) = view.and_then(|view| view.undo) else {
        return Ok(UNKNOWN_EFFECT);
    };
    let settled = undo::with_history(engine, move |history| history.settle_failed(&undo.id)).await;
    Ok(match settled.map(|entry| entry.state) {
        Ok(UndoState::Applied) => "It took effect before that.",
        Ok(UndoState::Undone) => "It did not take effect.",
        Ok(UndoState::Prepared) => UNKNOWN_EFFECT,
        Err(fault) => {
            tracing::warn!(%fault, %call, "it is not known whether it took effect");
            UNKNOWN_EFFECT
        }
    })
}

const UNKNOWN_EFFECT: &str = "Whether it took effect is not known: look before you repeat it.";

/// Ends a message of the model that was being written.
fn end_unfinished_turn(engine: &EngineState, session: &Session) -> Result<(), UserError> {
    let (entries, _) = engine.record.transcript_before(&session.id, None, 200)?;
    for entry in entries {
        if let protocol::EntryBody::Agent {
            turn,
            writing: true,
            ..
        } = entry.body
        {
            session.journal.record_message(
                &protocol::MessageId(entry.id),
                MessageChange::TurnEnded {
                    turn,
                    usage: Usage::default(),
                    duration_ms: 0,
                    error: Some(UserError::new(
                        "The app ended while the agent was writing.",
                        "What it wrote is kept.",
                    )),
                    opaque: serde_json::Value::Null,
                },
            );
        }
    }
    Ok(())
}
