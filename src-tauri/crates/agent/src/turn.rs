//! A run: model turns and their calls, until nothing is left to do or the person stops it.

use std::collections::VecDeque;
use std::sync::Arc;

use protocol::event::Notice;
use protocol::{
    CallState, EventBody, Fault, Message, MessageId, NoticeLevel, Outcome, SessionState, ToolCall,
};

use crate::conversation::OpenCall;
use crate::limits::TURNS_MAX;
use crate::model_turn;
use crate::pipeline;
use crate::session::Session;
use crate::stages::finish;

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
    let mut open: VecDeque<OpenCall> = session
        .conversation(|conversation| conversation.open.clone())
        .into();
    for turns in 0.. {
        if let Some(end) = calls(session, &mut open).await? {
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
        if stop.is_cancelled() {
            skip(
                session,
                answer.calls.into_iter().map(fresh).collect(),
                CallState::Skipped,
            );
            return Ok(End::Stopped);
        }
        if answer.failed {
            skip(
                session,
                answer.calls.into_iter().map(fresh).collect(),
                CallState::Skipped,
            );
            return Ok(End::Failed);
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

/// Walks the calls one after the other; looks for steering between them (`S001-28`, `S001-29`). Some end if the run is
/// over.
async fn calls(
    session: &Arc<Session>,
    open: &mut VecDeque<OpenCall>,
) -> Result<Option<End>, Fault> {
    let stop = session.stop_token();
    while let Some(next) = open.pop_front() {
        if stop.is_cancelled() || session.is_steered() {
            open.push_front(next);
            skip(session, std::mem::take(open), CallState::Skipped);
            break;
        }
        let outcome = pipeline::run(session, &next).await?;
        let ends = outcome.terminal || (!outcome.is_success() && !outcome.needs_followup);
        heard_by_model(session, next.call, outcome);
        if ends {
            skip(session, std::mem::take(open), CallState::Skipped);
            return Ok(Some(if stop.is_cancelled() {
                End::Stopped
            } else {
                End::Done
            }));
        }
        session.becomes(SessionState::Running);
    }
    Ok(stop.is_cancelled().then_some(End::Stopped))
}

/// Every call has a result, also one that never began (`S001-36`).
pub(crate) fn skip(session: &Session, calls: VecDeque<OpenCall>, state: CallState) {
    for OpenCall { call, .. } in calls {
        end_call(session, call, finish::stopped_outcome(state));
    }
}

/// Records how a call ended that did not walk to its end, and lets the model hear it.
pub(crate) fn end_call(session: &Session, call: ToolCall, outcome: Outcome) {
    session.journal.tell(EventBody::CallEnded {
        call: call.id.clone(),
        outcome: outcome.clone(),
    });
    heard_by_model(session, call, outcome);
}

fn heard_by_model(session: &Session, call: ToolCall, outcome: Outcome) {
    session.conversation(|conversation| {
        conversation.open.retain(|open| open.call.id != call.id);
        conversation.messages.push(Message::Tool {
            call: call.id,
            name: call.name,
            is_error: !outcome.is_success(),
            text: outcome.text,
        });
    });
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
        let open = session.conversation(|conversation| std::mem::take(&mut conversation.open));
        skip(session, open.into(), CallState::Skipped);
        session.conversation(|conversation| conversation.messages.push(Message::User { text }));
        start(session);
    }
    Ok(())
}
