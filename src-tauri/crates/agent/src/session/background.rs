//! Sub-agent tasks in the background: the run of the calling agent goes on, and receives their results.

use std::sync::atomic::{AtomicUsize, Ordering};

use protocol::event::MessageChange;
use protocol::model::Message;
use protocol::{MessageId, ToolError, ToolOutput, UserError};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::session::Session;

/// Counter of running background tasks.
#[derive(Debug, Default)]
pub(crate) struct BackgroundTasks {
    running: AtomicUsize,
    changed: Notify,
}

impl BackgroundTasks {
    /// Counts a task that begins.
    pub fn begin(&self) {
        self.running.fetch_add(1, Ordering::SeqCst);
    }

    /// Counts a task that ended, after its result was recorded.
    pub fn end(&self) {
        self.running.fetch_sub(1, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    /// Waits while tasks are running and there is no message for the model. Returns whether there is one now.
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

/// Records the result of a task, and adds it to the messages of the caller's model: without the secrets that the task
/// was given.
pub(crate) fn record_end(
    caller: &Session,
    child: &Session,
    title: &str,
    ended: Result<ToolOutput, ToolError>,
) {
    let (text, failed) = match ended {
        Ok(output) => (output.text, false),
        Err(ToolError::Cancelled) => ("It was stopped.".to_owned(), true),
        Err(error) => (error.to_string(), true),
    };
    let mask = child.journal.inherited_mask();
    let (title, text) = (mask.mask_text(title), mask.mask_text(&text));
    let message = format_result(&title, &text, failed);
    caller.journal.record_message(
        &MessageId(caller.engine.config.ids.next_id("msg")),
        MessageChange::SubAgentFinished {
            child: child.id.clone(),
            title,
            text,
            failed,
        },
    );
    // A run that is over was stopped: its model hears of it when it goes on, from the record.
    if let Err(message) = caller.steer(Message::user(message)) {
        caller.with_conversation(|conversation| conversation.push_message(message));
    }
}

/// Tells the caller of a session that its task was lost, if the task was in the background when the app ended, which is
/// the case if the call that started the task returned this session as its result.
///
/// # Errors
/// The record cannot be read or written.
pub(crate) async fn record_lost_task(child: &Session) -> Result<(), UserError> {
    let Some(parent) = child.parent() else {
        return Ok(());
    };
    let engine = &child.engine;
    let view = engine.call_view(&parent.session, &parent.call)?;
    let outcome = view.and_then(|view| view.outcome);
    let data = outcome.and_then(|outcome| outcome.data);
    let given_away = data.and_then(|data| data.get("session_id").cloned());
    if given_away.is_none_or(|id| id != *child.id.as_str()) {
        return Ok(());
    }
    let caller = engine.session(&parent.session)?;
    let title = engine.record.session(&child.id)?.map(|view| view.title);
    let why = ToolError::Failed("It was ended when the app ended.".to_owned());
    record_end(&caller, child, &title.unwrap_or_default(), Err(why));
    caller.journal.sync().await
}

/// Formats the result of a task for the model.
pub(crate) fn format_result(title: &str, text: &str, failed: bool) -> String {
    let how = if failed { "failed" } else { "ended" };
    format!(
        "[The work in the background, \"{title}\", {how}. Nobody said this to you: it is what came of it.]\n\n{text}"
    )
}
