//! A run: model turns and their calls, until nothing is left to do or the person stops it.

mod agent_run;
pub(crate) mod message_writer;
pub(crate) mod model_turn;
pub(crate) mod request_model;
pub(crate) mod strategy;
pub(crate) mod sub_agent_task;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use protocol::event::MessageChange;
use protocol::{
    CallId, CallState, EventBody, MessageId, NoticeLevel, Outcome, SessionState, ToolCall,
    UserError,
};
use tokio::task::JoinHandle;

use crate::pipeline::call;
use crate::pipeline::{early_outcome, resolve};
use crate::session::agent_runner::AGENT_PROVIDER;
use crate::session::background::BackgroundTasks;
use crate::session::conversation::OpenCall;
use crate::session::planning;
use crate::session::run_state::run_limits::{self, RunMeter};
use crate::session::skipped_asks;
use crate::session::structured_output::RepairCounter;
use crate::session::user_message::UserMessage;
use crate::session::{Session, StopReason};

/// The way a run ended.
enum RunEnd {
    /// The model has nothing more to do.
    Done,
    /// The model's answer was cut off or failed; the error is recorded with the turn.
    Failed,
    /// The person stopped the run.
    Stopped,
}

/// Starts the run of a session, if there is none. The conversation must contain the messages that the run begins with.
///
/// # Errors
/// Another process works in the session.
pub(crate) fn start_run(session: &Arc<Session>) -> Result<Option<JoinHandle<()>>, UserError> {
    let held = session.lock.acquire(&session.tool_context.folder)?;
    if session.begin_run().is_none() {
        return Ok(None);
    }
    let session = session.clone();
    Ok(Some(tokio::spawn(async move {
        // Until how it ended is on record: a process that looks meanwhile must not take it for left behind.
        let _held = held;
        if let Err(fault) = skipped_asks::join_skip(&session).await {
            session.engine.raise_error(&fault);
        }
        loop {
            let end = run_within_time(&session).await;
            // The app is going: how the run ended is no news, and what waits keeps waiting.
            let over = session.engine.closing.is_cancelled()
                || session.end_run(state_after(&session, end));
            if let Err(fault) = session.journal.sync().await {
                session.engine.raise_error(&fault);
            }
            if over {
                break;
            }
        }
    })))
}

/// Returns the state of a session after a run. An error is recorded first.
fn state_after(session: &Session, end: Result<RunEnd, UserError>) -> SessionState {
    match end {
        Ok(RunEnd::Done) => SessionState::Done,
        Ok(RunEnd::Failed) => SessionState::Failed,
        Ok(RunEnd::Stopped) => {
            match session.stop_reason() {
                StopReason::Limit(reached) => run_limits::record_limit(session, &reached),
                StopReason::Person | StopReason::Fault => {}
            }
            SessionState::Interrupted
        }
        Err(fault) => {
            tracing::error!(%fault, session = %session.id, "the run stopped");
            session.stop_with_reason(StopReason::Fault);
            for call in &session.with_conversation(|conversation| conversation.unanswered_calls()) {
                let outcome = early_outcome::unfinished_outcome(session, CallState::Interrupted);
                end_call(session, call, outcome);
            }
            session.engine.raise_error(&fault);
            let level = NoticeLevel::Error;
            session.journal.record(EventBody::notice(level, fault));
            SessionState::Failed
        }
    }
}

/// Runs the session until its time limit.
async fn run_within_time(session: &Arc<Session>) -> Result<RunEnd, UserError> {
    let config = &session.engine.config;
    let limits = config.limits.apply_to(session.engine.settings().limits);
    let meter = RunMeter::for_session(session, limits);
    let run = async {
        match session.model().provider == AGENT_PROVIDER {
            true => agent_run::run_agent_turns(session, meter).await,
            false => run_turns(session, meter).await,
        }
    };
    tokio::pin!(run);
    tokio::select! {
        biased;
        end = &mut run => end,
        reached = run_limits::wait_time_limit(session, limits) => {
            session.stop_with_reason(StopReason::Limit(reached));
            run.await
        }
    }
}

async fn run_turns(session: &Arc<Session>, mut meter: RunMeter) -> Result<RunEnd, UserError> {
    let stop = session.cancellation_token();
    session.reload_rules();
    session.reload_tools();
    let mut repairs = RepairCounter::default();
    session.set_state(SessionState::Running);
    let mut open = session.with_conversation(|conversation| std::mem::take(&mut conversation.open));
    loop {
        if let Some(end) = run_calls(session, open).await? {
            return Ok(end);
        }
        for said in session.take_steering() {
            session.with_conversation(|conversation| conversation.push_message(said));
        }
        if let Err(reached) = meter.begin_turn() {
            session.stop_with_reason(StopReason::Limit(reached));
            return Ok(RunEnd::Stopped);
        }
        let answer = model_turn::ask_model(session, &stop).await?;
        meter.add_usage(&answer.usage);
        meter.add_usage(&session.elicitations.take_sampling_usage());
        if stop.is_cancelled() || answer.failed {
            skip_calls(session, answer.calls.iter().map(|call| &call.id));
            return Ok(match stop.is_cancelled() {
                true => RunEnd::Stopped,
                false => RunEnd::Failed,
            });
        }
        repairs.count_attempt(answer.output.as_ref())?;
        let checked = answer.output.unwrap_or_default();
        if answer.calls.is_empty() && checked.problem.is_none() {
            // Tasks that the agent gave away and did not wait for are waited for now.
            match BackgroundTasks::wait_for_message(session, &stop).await {
                false if stop.is_cancelled() => return Ok(RunEnd::Stopped),
                false => return Ok(RunEnd::Done),
                true => {}
            }
        }
        let (admitted, reached) = meter.admit_calls(answer.calls.len());
        open = answer.calls.into_iter().map(open_call).collect();
        if let Some(reached) = reached {
            let left_out = open.split_off(admitted);
            if let Some(end) = run_calls(session, open).await? {
                skip_calls(session, left_out.iter().map(|open| &open.call.id));
                return Ok(end);
            }
            session.stop_with_reason(StopReason::Limit(reached));
            skip_calls(session, left_out.iter().map(|open| &open.call.id));
            return Ok(RunEnd::Stopped);
        }
        // An output ends the run once the calls beside it are over (`S004-39`, M18).
        if checked.output.is_some() && !session.is_steered() {
            return Ok(run_calls(session, open).await?.unwrap_or(RunEnd::Done));
        }
    }
}

fn open_call(call: ToolCall) -> OpenCall {
    OpenCall {
        call,
        edited: None,
        waiting: false,
        started: false,
        is_masked: false,
    }
}

/// Runs the calls of one turn by the session's strategy, and checks for steering between its steps. Returns `Some` if
/// the run is over.
async fn run_calls(
    session: &Arc<Session>,
    mut open: Vec<OpenCall>,
) -> Result<Option<RunEnd>, UserError> {
    let stop = session.cancellation_token();
    // Both groups keep their order.
    open.sort_by_cached_key(|open| resolve::runs_last(session, open));
    let steps = match open.len() {
        0 | 1 => vec![1; open.len()],
        _ => strategy::plan_steps(
            session.strategy,
            open.iter()
                .map(|open| resolve::is_parallel_safe(session, open)),
        ),
    };
    let ends = AtomicBool::new(false);
    let halted = || stop.is_cancelled() || session.is_steered() || ends.load(Ordering::Relaxed);
    let one = |open: OpenCall| {
        let ends = &ends;
        async move {
            // A fault of ours is the run's end: what runs or waits beside it must not keep it from being told.
            let outcome = call::run_call(session, &open)
                .await
                .inspect_err(|_| session.stop_with_reason(StopReason::Fault))?;
            if outcome.is_terminal() {
                ends.store(true, Ordering::Relaxed);
            }
            planning::apply_outcome(session, &open.call.id, &outcome);
            session.refresh_state();
            Ok::<(), UserError>(())
        }
    };
    let never_begun = strategy::run_steps(&steps, open, halted, one).await?;
    skip_calls(session, never_begun.iter().map(|open| &open.call.id));
    Ok(match (stop.is_cancelled(), ends.into_inner()) {
        (true, _) => Some(RunEnd::Stopped),
        (false, true) => Some(RunEnd::Done),
        (false, false) => None,
    })
}

/// Skips calls that never began, so that every call has a result (`S001-36`).
fn skip_calls<'a>(session: &Session, calls: impl IntoIterator<Item = &'a CallId>) {
    for call in calls {
        end_call(
            session,
            call,
            early_outcome::unfinished_outcome(session, CallState::Skipped),
        );
    }
}

/// Records the end of a call that did not complete the pipeline, and adds its outcome to the conversation.
pub(crate) fn end_call(session: &Session, call: &CallId, mut outcome: Outcome) {
    outcome.ended_at = session.engine.now();
    session.journal.record_end(call, &outcome);
    session.with_conversation(|conversation| conversation.add_outcome(call, &outcome));
}

/// Records a message of the person, which the model receives at the next turn. Returns the run that the message
/// started, if it started one.
pub(crate) async fn add_user_message(
    session: &Arc<Session>,
    user_message: UserMessage,
) -> Result<Option<JoinHandle<()>>, UserError> {
    let _held = session.lock.acquire(&session.tool_context.folder)?;
    let message = MessageId(session.engine.config.ids.next_id("msg"));
    let steering = session.is_running();
    session
        .journal
        .record_synced(EventBody::for_message(
            &message,
            MessageChange::PersonSaid {
                text: user_message.text.clone(),
                images: user_message.images.clone(),
                steering,
            },
        ))
        .await?;
    if let Err(user_message) = session.steer(user_message.to_message()) {
        // Nothing ran. What was left open by an earlier run has no result yet: it gets one before the new message.
        skip_calls(
            session,
            &session.with_conversation(|conversation| conversation.unanswered_calls()),
        );
        session.with_conversation(|conversation| conversation.push_message(user_message));
        return start_run(session);
    }
    Ok(None)
}
