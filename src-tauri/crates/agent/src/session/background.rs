//! Work that an agent gave away and did not wait for: its run goes on, and hears what came of it.

use std::sync::atomic::{AtomicUsize, Ordering};

use protocol::model::Message;
use protocol::{EntryBody, EventBody, MessageId, SessionId, ToolError, ToolOutput, UserError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::session::Session;

/// How much of it is at work.
#[derive(Debug, Default)]
pub(crate) struct BackgroundTasks {
    running: AtomicUsize,
    changed: Notify,
}

impl BackgroundTasks {
    /// One more is at work.
    pub fn begin(&self) {
        self.running.fetch_add(1, Ordering::SeqCst);
    }

    /// One of them ended, and what it came to is recorded.
    pub fn end(&self) {
        self.running.fetch_sub(1, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    /// Waits while there is work and the model has nothing to hear. Answers whether it has something to hear now.
    pub async fn wait_for_message(session: &Session, stop: &CancellationToken) -> bool {
        loop {
            let changed = session.background.changed.notified();
            tokio::pin!(changed);
            // Listen first, then look: nothing can fall between.
            changed.as_mut().enable();
            if session.is_steered() {
                return true;
            }
            if session.background.running.load(Ordering::SeqCst) == 0 {
                return false;
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => return false,
                () = session.wait_for_steering() => return true,
                () = changed => {}
            }
        }
    }
}

/// Lets the caller's model hear what came of it, and records that.
pub(crate) fn record_end(
    caller: &Session,
    child: SessionId,
    title: String,
    ended: Result<ToolOutput, ToolError>,
) {
    let (text, failed) = match ended {
        Ok(output) => (output.text, false),
        Err(ToolError::Cancelled) => ("It was stopped.".to_owned(), true),
        Err(error) => (error.to_string(), true),
    };
    let heard = format_result(&title, &text, failed);
    caller.journal.record(EventBody::ErrandEnded {
        message: MessageId(caller.engine.config.ids.next_id("msg")),
        child,
        title,
        text,
        failed,
    });
    // A run that is over was stopped: its model hears of it when it goes on, from the record.
    if let Err(heard) = caller.steer(Message::user(heard)) {
        caller.with_conversation(|conversation| conversation.push_message(heard));
    }
}

/// Lets the caller of a session hear that its work was lost, if it was in the background when the app ended: the call that
/// gave it away came to this session and to nothing else.
///
/// # Errors
/// What the record says.
pub(crate) async fn record_lost_task(child: &Session) -> Result<(), UserError> {
    let Some(parent) = child.parent() else {
        return Ok(());
    };
    let shared = &child.engine;
    let data = match shared
        .record
        .entry(&parent.session, parent.call.as_str())?
        .map(|entry| entry.body)
    {
        Some(EntryBody::Call(view)) => view.outcome.and_then(|outcome| outcome.data),
        _ => None,
    };
    let given_away = data.and_then(|data| data.get("session_id").cloned());
    if given_away.is_none_or(|id| id != *child.id.as_str()) {
        return Ok(());
    }
    let caller = shared.session(&parent.session)?;
    let title = shared.record.session(&child.id)?.map(|view| view.title);
    let why = ToolError::Failed("It was ended when the app ended.".to_owned());
    record_end(
        &caller,
        child.id.clone(),
        title.unwrap_or_default(),
        Err(why),
    );
    caller.journal.sync().await
}

/// The same as a model reads it.
pub(crate) fn format_result(title: &str, text: &str, failed: bool) -> String {
    let how = if failed { "failed" } else { "ended" };
    format!(
        "[The work in the background, \"{title}\", {how}. Nobody said this to you: it is what came of it.]\n\n{text}"
    )
}
