//! A run: model turns and their calls, until nothing is left to do or the person stops it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use protocol::event::Notice;
use protocol::{
    CallId, CallState, EventBody, Fault, MessageId, NoticeLevel, Outcome, SessionState, ToolCall,
};
use tokio::task::JoinHandle;

use crate::background::Background;
use crate::composed::Repairs;
use crate::conversation::OpenCall;
use crate::run_limits::{self, Meter};
use crate::said::Said;
use crate::session::{Session, Why};
use crate::stages::{found, stopped};
use crate::{model_turn, one_call, planning, strategy};

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
///
/// # Errors
/// Another process works in the session.
pub(crate) fn start(session: &Arc<Session>) -> Result<Option<JoinHandle<()>>, Fault> {
    let held = session.held.here(&session.hands.folder)?;
    if session.begin_run().is_none() {
        return Ok(None);
    }
    let session = session.clone();
    Ok(Some(tokio::spawn(async move {
        // Until how it ended is on record: a process that looks meanwhile must not take it for left behind.
        let _held = held;
        loop {
            let end = within_its_time(&session).await;
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
    })))
}

/// The state that a run leaves its session in. A fault is told first.
fn state_after(session: &Session, end: Result<End, Fault>) -> SessionState {
    match end {
        Ok(End::Done) => SessionState::Done,
        Ok(End::Failed) => SessionState::Failed,
        Ok(End::Stopped) => {
            match session.why() {
                Why::Limit(reached) => run_limits::tell(session, &reached),
                Why::Person | Why::Fault => {}
            }
            SessionState::Interrupted
        }
        Err(fault) => {
            tracing::error!(%fault, session = %session.id, "the run stopped");
            session.stop_because(Why::Fault);
            for call in &session.conversation(|conversation| conversation.unanswered()) {
                let outcome = stopped::outcome(session, CallState::Interrupted);
                end_call(session, call, outcome);
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

/// The run, which stops when it was at work for as long as it may.
async fn within_its_time(session: &Arc<Session>) -> Result<End, Fault> {
    let config = &session.shared.config;
    let limits = config.limits.over(session.shared.settings().limits);
    let run = run(session, Meter::beginning(session, limits));
    tokio::pin!(run);
    tokio::select! {
        biased;
        end = &mut run => end,
        reached = run_limits::time_up(session, limits) => {
            session.stop_because(Why::Limit(reached));
            run.await
        }
    }
}

async fn run(session: &Arc<Session>, mut meter: Meter) -> Result<End, Fault> {
    let stop = session.stop_token();
    session.reload_rules();
    session.reload_tools();
    let mut repairs = Repairs::default();
    session.becomes(SessionState::Running);
    let mut open = session.conversation(|conversation| std::mem::take(&mut conversation.open));
    loop {
        if let Some(end) = calls(session, open).await? {
            return Ok(end);
        }
        for said in session.heard() {
            session.conversation(|conversation| conversation.said(said));
        }
        if let Err(reached) = meter.begin_turn() {
            session.stop_because(Why::Limit(reached));
            return Ok(End::Stopped);
        }
        let answer = model_turn::ask(session, &stop).await?;
        meter.take(&answer.usage);
        meter.take(&session.asks.take_lent());
        if stop.is_cancelled() || answer.failed {
            skip(session, answer.calls.iter().map(|call| &call.id));
            return Ok(match stop.is_cancelled() {
                true => End::Stopped,
                false => End::Failed,
            });
        }
        repairs.count(answer.checked.as_ref())?;
        let checked = answer.checked.unwrap_or_default();
        if answer.calls.is_empty() && checked.problem.is_none() {
            // What it gave away and did not wait for is waited for now.
            match Background::wait(session, &stop).await {
                false if stop.is_cancelled() => return Ok(End::Stopped),
                false => return Ok(End::Done),
                true => {}
            }
        }
        let (admitted, reached) = meter.admit(answer.calls.len());
        open = answer.calls.into_iter().map(fresh).collect();
        if let Some(reached) = reached {
            let left_out = open.split_off(admitted);
            if let Some(end) = calls(session, open).await? {
                skip(session, left_out.iter().map(|open| &open.call.id));
                return Ok(end);
            }
            session.stop_because(Why::Limit(reached));
            skip(session, left_out.iter().map(|open| &open.call.id));
            return Ok(End::Stopped);
        }
        // An output ends the run once the calls beside it are over (`S004-39`, M18).
        if checked.output.is_some() && !session.is_steered() {
            return Ok(calls(session, open).await?.unwrap_or(End::Done));
        }
    }
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
async fn calls(session: &Arc<Session>, mut open: Vec<OpenCall>) -> Result<Option<End>, Fault> {
    let stop = session.stop_token();
    // Both groups keep their order.
    open.sort_by_cached_key(|open| found::comes_last(session, open));
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
            let outcome = one_call::run(session, &open)
                .await
                .inspect_err(|_| session.stop_because(Why::Fault))?;
            if outcome.is_terminal() {
                ends.store(true, Ordering::Relaxed);
            }
            planning::hear(session, &open.call.id, &outcome);
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
        end_call(session, call, stopped::outcome(session, CallState::Skipped));
    }
}

/// Records how a call ended that did not walk to its end, and lets the model hear it.
pub(crate) fn end_call(session: &Session, call: &CallId, mut outcome: Outcome) {
    outcome.ended_at = session.shared.config.clock.now();
    session.journal.tell_end(call, &outcome);
    session.conversation(|conversation| conversation.hear(call, &outcome));
}

/// Records what the person said, and lets the model hear it at the next turn. Gives the run that it began, if it began
/// one.
pub(crate) async fn say(
    session: &Arc<Session>,
    said: Said,
) -> Result<Option<JoinHandle<()>>, Fault> {
    let _held = session.held.here(&session.hands.folder)?;
    let message = MessageId(session.shared.config.ids.next("msg"));
    let steering = session.is_running();
    session
        .journal
        .keep(EventBody::PersonSaid {
            message,
            text: said.text.clone(),
            images: said.images.clone(),
            steering,
        })
        .await?;
    if let Err(said) = session.steer(said.message()) {
        // Nothing ran. What was left open by an earlier run has no result yet: it gets one before the new message.
        skip(
            session,
            &session.conversation(|conversation| conversation.unanswered()),
        );
        session.conversation(|conversation| conversation.said(said));
        return start(session);
    }
    Ok(None)
}
