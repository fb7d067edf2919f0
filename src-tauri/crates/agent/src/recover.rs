//! Takes up what the last end of the app left behind: nothing acknowledged is lost, nothing runs twice.

use std::path::Path;
use std::sync::Arc;

use protocol::entry::SessionView;
use protocol::event::Notice;
use protocol::{
    CallId, CallState, EntryBody, EventBody, Fault, NoticeLevel, SessionId, SessionState,
    UndoState, Usage,
};

use runtime::{Environment, History};

use crate::background;
use crate::desk::Shared;
use crate::held;
use crate::session::Session;
use crate::stages::finish;
use crate::{turn, undo};

/// Finishes interrupted restores, ends what was running, and puts back on the desk what was waiting. What cannot be taken
/// up, a workspace that is gone or a copy that cannot be read, is told, keeps nothing else from opening, and is tried
/// again by the next start.
pub(crate) async fn run(shared: &Arc<Shared>) -> Result<(), Fault> {
    if let Err(fault) = finish_restores(shared).await {
        tracing::warn!(%fault, "not every restore is finished");
        shared.raise(&fault);
    }
    take_up_pictures(shared).await?;
    undo::reconcile(shared).await?;
    for fault in take_up_sessions(shared).await? {
        shared.raise(&fault);
    }
    Ok(())
}

async fn finish_restores(shared: &Arc<Shared>) -> Result<(), Fault> {
    let data_dir = shared.config.data_dir.clone();
    let recover =
        move |history: &History| history.recover(|session| is_at_work(&data_dir, session));
    let restored = undo::on_history(shared, recover).await?;
    if !restored.is_empty() {
        tracing::info!(
            entries = restored.len(),
            "finished restores that were interrupted"
        );
    }
    Ok(())
}

/// Whether somebody works in a session. Where that cannot be told, it is left to a later start.
pub(crate) fn is_at_work(data_dir: &Path, session: &SessionId) -> bool {
    held::is_held(data_dir, session).unwrap_or(true)
}

/// Takes up what whoever works beside a window may: what nobody holds any more is nobody's work and is brought to its end.
/// What waits for a person is left to who can ask one.
pub(crate) async fn beside(shared: &Arc<Shared>) -> Result<(), Fault> {
    take_up_pictures(shared).await?;
    // What is wrong with them is none of the faults of what is asked for here.
    let _warned = take_up_sessions(shared).await?;
    Ok(())
}

/// Takes up every session whose process ended in the middle of its work. Gives why some could not be.
async fn take_up_sessions(shared: &Arc<Shared>) -> Result<Vec<Fault>, Fault> {
    let mut faults = Vec::new();
    for view in shared.record.at_work()? {
        if let Err(fault) = left_behind(shared, &view).await {
            tracing::warn!(%fault, session = %view.id, "a session could not be taken up");
            faults.push(fault);
        }
    }
    Ok(faults)
}

/// Records what commands did that ran for real when the app ended, each in its own session.
async fn take_up_pictures(shared: &Arc<Shared>) -> Result<(), Fault> {
    let up = undo::on_history(shared, |history| Ok(Environment::take_up(history))).await?;
    for error in up.failed {
        shared.raise(&error.into());
    }
    for entry in up.acts {
        match shared.session(&entry.session) {
            Ok(session) => {
                let call = entry.call.clone();
                let event = EventBody::UndoPrepared { call, entry };
                session.journal.keep(event).await?;
            }
            Err(fault) => tracing::warn!(%fault, entry = %entry.id, "nobody is told of it"),
        }
    }
    Ok(())
}

/// Takes a session up whose process ended in the middle of its work. Gives whether it was such a one.
pub(crate) async fn left_behind(shared: &Arc<Shared>, view: &SessionView) -> Result<bool, Fault> {
    let was_at_work = match view.state {
        SessionState::Running => true,
        SessionState::Waiting => shared.config.takes_up,
        SessionState::Idle
        | SessionState::Done
        | SessionState::Failed
        | SessionState::Interrupted => false,
    };
    // A command line or a gateway may be at it.
    if !was_at_work || held::is_held(&shared.config.data_dir, &view.id)? {
        return Ok(false);
    }
    let session = shared.session(&view.id)?;
    let Ok(_held) = session.held.here(&session.hands.folder) else {
        return Ok(false);
    };
    let now = shared.record.session(&view.id)?;
    if now.is_none_or(|now| now.state != view.state) {
        // Another process was quicker, and what was read of it may be from before.
        shared.forget(&view.id);
        return Ok(false);
    }
    take_up(shared, &session).await
}

/// Gives whether it was: where a call waits for a person and there is none, nothing is done.
async fn take_up(shared: &Arc<Shared>, session: &Arc<Session>) -> Result<bool, Fault> {
    let open = session.conversation(|conversation| conversation.open.clone());
    let waits = open.iter().any(|call| call.waiting);
    if waits && !shared.config.takes_up {
        return Ok(false);
    }
    end_unfinished_turn(shared, session)?;
    for begun in open.into_iter().filter(|call| call.started) {
        // Whether it took effect is not known, so it is never run again (B.002: orphaned calls).
        let mut outcome = finish::stopped_outcome(CallState::Interrupted);
        let effect = effect_of(shared, session, &begun.call.id).await?;
        outcome.text = format!("The app ended while this ran. {effect}");
        outcome.message = "The app ended while this ran".to_owned();
        turn::end_call(session, &begun.call.id, outcome);
    }
    if session.parent().is_some() {
        // The call that it worked for is over, so nobody waits for it.
        for call in session.conversation(|conversation| conversation.unanswered()) {
            turn::end_call(
                session,
                &call,
                finish::stopped_outcome(CallState::Interrupted),
            );
        }
        session.becomes(SessionState::Interrupted);
        background::lost(session).await?;
    } else if waits {
        turn::start(session)?;
    } else {
        session.journal.tell(EventBody::Noted {
            notice: Notice {
                level: NoticeLevel::Note,
                fault: Fault::new(
                    "The app ended while this session was at work.",
                    "Go on with Resume, or say something.",
                ),
            },
        });
        session.becomes(SessionState::Interrupted);
    }
    session.journal.settle().await?;
    Ok(true)
}

/// What is known of the effect of a call that was running: a change of files is known from its copy, and one that came only in
/// part is taken back.
async fn effect_of(
    shared: &Arc<Shared>,
    session: &Session,
    call: &CallId,
) -> Result<&'static str, Fault> {
    let view = match shared
        .record
        .entry(&session.id, call.as_str())?
        .map(|entry| entry.body)
    {
        Some(EntryBody::Call(view)) => view,
        _ => return Ok(UNKNOWN),
    };
    let Some(undo) = view.undo else {
        return Ok(UNKNOWN);
    };
    let settled = undo::on_history(shared, move |history| history.settle(&undo.id)).await;
    Ok(match settled.map(|entry| entry.state) {
        Ok(UndoState::Applied) => "It took effect before that.",
        Ok(UndoState::Undone) => "It did not take effect.",
        Ok(UndoState::Prepared) => UNKNOWN,
        Err(fault) => {
            tracing::warn!(%fault, %call, "it is not known whether it took effect");
            UNKNOWN
        }
    })
}

const UNKNOWN: &str = "Whether it took effect is not known: look before you repeat it.";

/// A message that was being written ends here.
fn end_unfinished_turn(shared: &Shared, session: &Session) -> Result<(), Fault> {
    let (entries, _) = shared.record.transcript(&session.id, None, 200)?;
    for entry in entries {
        if let protocol::EntryBody::Agent {
            turn,
            writing: true,
            ..
        } = entry.body
        {
            session.journal.tell(EventBody::TurnEnded {
                turn,
                message: protocol::MessageId(entry.id),
                usage: Usage::default(),
                duration_ms: 0,
                error: Some(Fault::new(
                    "The app ended while the agent was writing.",
                    "What it wrote is kept.",
                )),
                opaque: serde_json::Value::Null,
            });
        }
    }
    Ok(())
}
