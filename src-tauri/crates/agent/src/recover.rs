//! Takes up what the last end of the app left behind: nothing acknowledged is lost, nothing runs twice.

use std::sync::Arc;

use protocol::entry::SessionView;
use protocol::event::Notice;
use protocol::{
    CallId, CallState, EntryBody, EventBody, Fault, NoticeLevel, SessionId, SessionState,
    UndoState, Usage,
};

use runtime::Environment;

use crate::background;
use crate::desk::Shared;
use crate::held;
use crate::session::Session;
use crate::stages::finish;
use crate::{turn, undo};

/// Finishes interrupted restores, ends what was running, and puts back on the desk what was waiting.
pub(crate) async fn run(shared: &Arc<Shared>) -> Result<(), Fault> {
    let (history, data_dir) = (shared.history.clone(), shared.config.data_dir.clone());
    // Of which that cannot be told is left to a later start.
    let at_work = move |session: &SessionId| held::is_held(&data_dir, session).unwrap_or(true);
    let restored = tokio::task::spawn_blocking(move || history.recover(at_work))
        .await
        .map_err(|_| Fault::new("The history could not be taken up.", "Open the app again."))??;
    if !restored.is_empty() {
        tracing::info!(
            entries = restored.len(),
            "finished restores that were interrupted"
        );
    }
    take_up_pictures(shared).await?;
    undo::reconcile(shared).await?;
    for view in shared.record.sessions()? {
        if let Err(fault) = left_behind(shared, &view).await {
            // A workspace that is gone must not keep the others from opening.
            tracing::warn!(%fault, session = %view.id, "a session could not be taken up");
            shared.raise(&fault);
        }
    }
    Ok(())
}

/// Records what commands did that ran for real when the app ended, each in its own session.
pub(crate) async fn take_up_pictures(shared: &Arc<Shared>) -> Result<(), Fault> {
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
        SessionState::Running | SessionState::Waiting => true,
        SessionState::Idle
        | SessionState::Done
        | SessionState::Failed
        | SessionState::Interrupted => false,
    };
    // A command line or a gateway may be at it.
    if !was_at_work || held::is_held(&shared.config.data_dir, &view.id)? {
        return Ok(false);
    }
    take_up(shared, &view.id).await?;
    Ok(true)
}

async fn take_up(shared: &Arc<Shared>, id: &SessionId) -> Result<(), Fault> {
    let session = shared.session(id)?;
    end_unfinished_turn(shared, &session)?;
    let open = session.conversation(|conversation| conversation.open.clone());
    let waits = open.iter().any(|call| call.waiting);
    for begun in open.into_iter().filter(|call| call.started) {
        // Whether it took effect is not known, so it is never run again (B.002: orphaned calls).
        let mut outcome = finish::stopped_outcome(CallState::Interrupted);
        let effect = effect_of(shared, &session, &begun.call.id)?;
        outcome.text = format!("The app ended while this ran. {effect}");
        outcome.message = "The app ended while this ran".to_owned();
        turn::end_call(&session, &begun.call.id, outcome);
    }
    if session.parent().is_some() {
        // The call that it worked for is over, so nobody waits for it.
        for call in session.conversation(|conversation| conversation.unanswered()) {
            turn::end_call(
                &session,
                &call,
                finish::stopped_outcome(CallState::Interrupted),
            );
        }
        session.becomes(SessionState::Interrupted);
        background::lost(&session).await?;
        return session.journal.settle().await;
    }
    if waits {
        turn::start(&session)?;
        return session.journal.settle().await;
    }
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
    session.journal.settle().await
}

/// What is known of the effect of a call that was running: a change of files is known from its copy.
fn effect_of(shared: &Shared, session: &Session, call: &CallId) -> Result<&'static str, Fault> {
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
    Ok(
        match shared.history.entry(&undo.id)?.map(|entry| entry.state) {
            Some(UndoState::Applied) => "It took effect before that.",
            Some(UndoState::Undone) => "It did not take effect.",
            Some(UndoState::Prepared) | None => UNKNOWN,
        },
    )
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
