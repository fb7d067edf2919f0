//! A run: model turns and their calls, until nothing is left to do or the person stops it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use protocol::event::Notice;
use protocol::{
    CallId, CallState, EventBody, Fault, Message, MessageId, NoticeLevel, Outcome, SessionState,
    ToolCall,
};

use crate::conversation::OpenCall;
use crate::limits::TURNS_MAX;
use crate::session::Session;
use crate::stages::{finish, found};
use crate::{model_turn, pipeline, strategy};

/// How a run came to its end.
enum End {
    /// The model has nothing more to do.
    Done,
    /// The model's answer was cut off or failed; the fault is on record with the turn.
    Failed,
    /// The person stopped it.
    Stopped,
}

/// Starts the run of a session, if none is there. The conversation must hold what the run begins with.
pub(crate) fn start(session: &Arc<Session>) {
    if session.begin_run().is_none() {
        return;
    }
    let session = session.clone();
    tokio::spawn(async move {
        loop {
            let end = run(&session).await;
            // The app is going: how the run ended is no news, and what waits keeps waiting.
            let over = session.shared.closing.is_cancelled()
                || session.end_run(state_after(&session, end));
            if let Err(fault) = session.journal.settle().await {
                session.shared.raise(&fault);
            }
            if over {
                break;
            }
        }
    });
}

/// The state that a run leaves its session in. A fault is told first.
fn state_after(session: &Session, end: Result<End, Fault>) -> SessionState {
    match end {
        Ok(End::Done) => SessionState::Done,
        Ok(End::Failed) => SessionState::Failed,
        Ok(End::Stopped) => SessionState::Interrupted,
        Err(fault) => {
            tracing::error!(%fault, session = %session.id, "the run stopped");
            let open = session.conversation(|conversation| conversation.unanswered());
            for call in &open {
                end_call(
                    session,
                    call,
                    &finish::stopped_outcome(CallState::Interrupted),
                );
            }
            session.shared.raise(&fault);
            let level = NoticeLevel::Error;
            session.journal.tell(EventBody::Noted {
                notice: Notice { level, fault },
            });
            SessionState::Failed
        }
    }
}

async fn run(session: &Arc<Session>) -> Result<End, Fault> {
    let stop = session.stop_token();
    session.reload_rules();
    session.becomes(SessionState::Running);
    let mut open = session.conversation(|conversation| std::mem::take(&mut conversation.open));
    for turns in 0.. {
        if let Some(end) = calls(session, open).await? {
            return Ok(end);
        }
        for text in session.heard() {
            session.conversation(|conversation| conversation.messages.push(Message::User { text }));
        }
        if turns == TURNS_MAX {
            return Err(Fault::new(
                format!("The agent took {TURNS_MAX} turns without coming to an end."),
                "Everything it did is kept. Say something to let it go on.",
            ));
        }
        let answer = model_turn::ask(session, &stop).await?;
        if stop.is_cancelled() || answer.failed {
            skip(session, answer.calls.iter().map(|call| &call.id));
            return Ok(match answer.failed {
                true if !stop.is_cancelled() => End::Failed,
                _ => End::Stopped,
            });
        }
        if answer.calls.is_empty() && !session.is_steered() {
            return Ok(End::Done);
        }
        open = answer.calls.into_iter().map(fresh).collect();
    }
    Ok(End::Done)
}

fn fresh(call: ToolCall) -> OpenCall {
    OpenCall {
        call,
        edited: None,
        waiting: false,
        started: false,
    }
}

/// Runs the calls of one turn as the session's strategy has it, and looks for steering between its steps. Some end if
/// the run is over.
async fn calls(session: &Arc<Session>, open: Vec<OpenCall>) -> Result<Option<End>, Fault> {
    let stop = session.stop_token();
    let steps = match open.len() {
        0 | 1 => vec![1; open.len()],
        _ => strategy::steps(
            session.strategy,
            open.iter()
                .map(|open| found::is_safe_beside_others(session, open)),
        ),
    };
    let ends = AtomicBool::new(false);
    let halted = || stop.is_cancelled() || session.is_steered() || ends.load(Ordering::Relaxed);
    let one = |open: OpenCall| {
        let ends = &ends;
        async move {
            // A fault of ours is the run's end: what runs or waits beside it must not keep it from being told.
            let outcome = pipeline::run(session, &open).await.inspect_err(|_| {
                session.stop();
            })?;
            if outcome.terminal || (!outcome.is_success() && !outcome.needs_followup) {
                ends.store(true, Ordering::Relaxed);
            }
            session.conversation(|conversation| conversation.hear(&open.call.id, &outcome));
            session.at_work();
            Ok::<(), Fault>(())
        }
    };
    let never_begun = strategy::run(&steps, open, halted, one).await?;
    skip(session, never_begun.iter().map(|open| &open.call.id));
    Ok(match (stop.is_cancelled(), ends.into_inner()) {
        (true, _) => Some(End::Stopped),
        (false, true) => Some(End::Done),
        (false, false) => None,
    })
}

/// Every call has a result, also one that never began (`S001-36`).
fn skip<'a>(session: &Session, calls: impl IntoIterator<Item = &'a CallId>) {
    for call in calls {
        end_call(session, call, &finish::stopped_outcome(CallState::Skipped));
    }
}

/// Records how a call ended that did not walk to its end, and lets the model hear it.
pub(crate) fn end_call(session: &Session, call: &CallId, outcome: &Outcome) {
    session.journal.tell(EventBody::CallEnded {
        call: call.clone(),
        outcome: outcome.clone(),
    });
    session.conversation(|conversation| conversation.hear(call, outcome));
}

/// Records what the person said, and lets the model hear it at the next turn.
pub(crate) async fn say(session: &Arc<Session>, text: String) -> Result<(), Fault> {
    let message = MessageId(session.shared.config.ids.next("msg"));
    let steering = session.is_running();
    session
        .journal
        .keep(EventBody::PersonSaid {
            message,
            text: text.clone(),
            steering,
        })
        .await?;
    if let Err(text) = session.steer(text) {
        // Nothing ran. What was left open by an earlier run has no result yet: it gets one before the new message.
        skip(
            session,
            &session.conversation(|conversation| conversation.unanswered()),
        );
        session.conversation(|conversation| conversation.messages.push(Message::User { text }));
        start(session);
    }
    Ok(())
}
