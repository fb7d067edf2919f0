//! Asks that the person skips in a session for a while (M32). What is in force is kept in memory alone, so that no restart
//! goes on with it.

use std::sync::Arc;
use std::time::Duration;

use protocol::event::{CallChange, SessionEvent};
use protocol::session::skipped_asks::{AsksResumption, SkippedAsk};
use protocol::text::display_text::format_count;
use protocol::{At, Event, EventBody, Gate, NoticeLevel, SessionId, UserError, Verdict};

use crate::session::Session;
use crate::session::engine_state::EngineState;
use crate::session::journal::Journal;

/// How often it is looked whether the time is up: a clock may be set, and a machine sleeps.
const TIMER_STEP: Duration = Duration::from_secs(1);

/// A time for which asks are skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AskSkip {
    /// When calls ask again; none for the end of the session.
    pub until: Option<At>,
}

impl AskSkip {
    fn is_over(self, now: At) -> bool {
        self.until.is_some_and(|until| until <= now)
    }
}

impl Session {
    /// Whether the session skips asks, or the one that it works for does.
    pub(crate) fn skips_asks(&self) -> bool {
        match self.parent() {
            Some(parent) => {
                let caller = self.engine.session(&parent.session);
                caller.is_ok_and(|caller| caller.skips_asks())
            }
            None => self.ask_skip().is_some(),
        }
    }

    /// Whether calls are judged by their effects: in such a posture, and while asks are skipped.
    pub(crate) fn judges_effects(&self) -> bool {
        self.posture().judges_effects() || self.skips_asks()
    }

    /// Returns the time for which this session skips asks, if it is not over.
    fn ask_skip(&self) -> Option<AskSkip> {
        let skip = *self.ask_skip.read();
        skip.filter(|skip| !skip.is_over(self.engine.now()))
    }
}

/// Skips asks in a session. Calls that wait are judged again.
///
/// # Errors
/// It cannot be recorded; then nothing changed.
pub(crate) async fn begin_skip(session: &Arc<Session>, skip: AskSkip) -> Result<(), UserError> {
    let AskSkip { until } = skip;
    session.journal.record(SessionEvent::AsksSkipped { until });
    let notice = EventBody::notice(NoticeLevel::Note, describe_skip(session, skip));
    session.journal.record_synced(notice).await?;
    *session.ask_skip.write() = Some(skip);
    session.reload_rules();
    if until.is_some() {
        tokio::spawn(end_in_time(Arc::downgrade(session), skip));
    }
    Ok(())
}

fn describe_skip(session: &Session, skip: AskSkip) -> UserError {
    let message = match skip.until {
        Some(until) => {
            let left_ms = until.saturating_sub(session.engine.now());
            let minutes = u64::try_from(left_ms).unwrap_or(0).div_ceil(60_000);
            let time = format_count(minutes, "minute");
            format!("Asks are skipped for {time}.")
        }
        None => "Asks are skipped until the session is closed or the app ends.".to_owned(),
    };
    UserError::new(
        message,
        "A call still asks if what it does cannot be taken back, runs later, or gives a secret away, or if a rule says so.",
    )
}

/// Joins a session that begins to work to a skip that the person chose for every session.
///
/// # Errors
/// It cannot be recorded; then the session asks.
pub(crate) async fn join_skip(session: &Arc<Session>) -> Result<(), UserError> {
    let skip = *session.engine.ask_skip.read();
    let skip = skip.filter(|skip| !skip.is_over(session.engine.now()));
    match skip {
        Some(skip) if session.parent().is_none() && session.ask_skip().is_none() => {
            begin_skip(session, skip).await
        }
        _ => Ok(()),
    }
}

/// Lets the calls of a session ask again. Returns whether they did not.
///
/// # Errors
/// It cannot be recorded; the calls ask all the same.
pub(crate) async fn end_skip(session: &Session, cause: AsksResumption) -> Result<bool, UserError> {
    if session.ask_skip.write().take().is_none() {
        return Ok(false);
    }
    session.reload_rules();
    // What passed until now is on record before it is counted.
    session.journal.sync().await?;
    record_end(&session.engine, &session.id, cause).await?;
    Ok(true)
}

/// Records that the calls of a session ask again, and how many did not meanwhile.
pub(crate) async fn record_end(
    engine: &EngineState,
    id: &SessionId,
    cause: AsksResumption,
) -> Result<(), UserError> {
    let passed = list_skipped(engine, id)?.len() as u64;
    let calls = format_count(passed, "call");
    let reason = match cause {
        AsksResumption::Person => "Calls ask again.",
        AsksResumption::Time => "Calls ask again: the time is up.",
        AsksResumption::Closed => "Calls ask again: the session was closed.",
        AsksResumption::Restart => "Calls ask again: the app ended meanwhile.",
    };
    let fault = UserError::new(reason, format!("{calls} passed that would have asked."));
    let clock = engine.config.clock.clone();
    let journal = Journal::new(engine.record.clone(), id.clone(), clock);
    journal.record(SessionEvent::AsksResumed { cause });
    let notice = EventBody::notice(NoticeLevel::Note, fault);
    journal.record_synced(notice).await
}

/// Waits until the time is up, then lets the calls ask again, unless another time was chosen since.
async fn end_in_time(session: std::sync::Weak<Session>, skip: AskSkip) {
    loop {
        let Some(session) = session.upgrade() else {
            return;
        };
        if *session.ask_skip.read() != Some(skip) || session.engine.closing.is_cancelled() {
            return;
        }
        if skip.is_over(session.engine.now()) {
            if let Err(fault) = end_skip(&session, AsksResumption::Time).await {
                session.engine.raise_error(&fault);
            }
            return;
        }
        drop(session);
        tokio::time::sleep(TIMER_STEP).await;
    }
}

/// Lists the calls of a session and of its sub-agents that would have asked since it skips asks, the newest first; none if
/// it asks.
pub(crate) fn list_skipped(
    engine: &EngineState,
    id: &SessionId,
) -> Result<Vec<SkippedAsk>, UserError> {
    let sessions = engine.record.overview()?.sessions;
    let begun = sessions.iter().find(|view| view.id == *id);
    let Some(skip) = begun.and_then(|view| view.skipped_asks) else {
        return Ok(Vec::new());
    };
    let mut family = vec![id];
    // A session is opened after the one that it works for.
    let mut by_age: Vec<_> = sessions.iter().collect();
    by_age.sort_by_key(|view| view.opened_at);
    for view in by_age {
        let parent = view.parent.as_ref().map(|parent| &parent.session);
        if parent.is_some_and(|parent| family.contains(&parent)) {
            family.push(&view.id);
        }
    }
    let mut all: Vec<SkippedAsk> = Vec::new();
    for member in family {
        let mut since = skip.seq;
        loop {
            let page = engine.record.events(since, Some(member), u32::MAX)?;
            let Some(last) = page.last() else { break };
            since = last.seq;
            for passed in page.iter().filter_map(skipped_ask) {
                // A call may be judged more than once.
                all.retain(|known| known.session != passed.session || known.call != passed.call);
                all.push(passed);
            }
        }
    }
    all.sort_by_key(|passed| std::cmp::Reverse(passed.at));
    Ok(all)
}

/// Returns the call of an event, if it is a verdict that let it through because asks are skipped.
fn skipped_ask(event: &Event) -> Option<SkippedAsk> {
    let EventBody::Call {
        call,
        change:
            CallChange::Judged {
                title,
                target,
                trail,
                ..
            },
    } = &event.body
    else {
        return None;
    };
    let is_skipped = trail.verdict == Verdict::Allow
        && trail
            .steps
            .iter()
            .any(|step| step.gate == Gate::SkippedAsks);
    is_skipped.then(|| SkippedAsk {
        session: event.session.clone(),
        call: call.clone(),
        at: event.at,
        title: title.clone(),
        target: target.clone(),
    })
}
