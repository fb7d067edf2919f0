//! Stage 12: the tool runs, within its limits, able to be stopped, and unable to take anything else down with it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use policy::Approved;
use protocol::{CallId, EventBody, ToolError};
use tools::ToolContext;

use super::finish::Ran;
use super::found::Called;
use crate::limits::{COALESCE, COALESCE_BYTES, TIMEOUT_GRACE};
use crate::session::Session;

/// Runs the tool. A panic, a time-out and a stop are errors of this one call (`S001-25`).
pub(crate) async fn run(session: &Arc<Session>, called: &Called<'_>, approved: Approved) -> Ran {
    let began = session.shared.config.clock.now();
    let stop = session.stop_token();
    let cancel = stop.child_token();
    let limit_ms = called.interface().timeout_ms();
    let pieces = Arc::new(Pieces::new(session.clone(), approved.call().clone()));
    let context = ToolContext {
        tool_call_id: approved.call().clone(),
        tool_name: called.id().to_owned(),
        cancel: cancel.clone(),
        on_output: Some(Arc::new({
            let pieces = pieces.clone();
            move |text: &str| pieces.add(text)
        })),
        on_progress: None,
        delegates: None,
    };
    let (tool, hands) = (called.0.tool.clone(), session.hands.clone());
    let mut work = tokio::spawn(async move { tool.execute(&approved, &hands, &context).await });
    let limit = tokio::time::sleep(Duration::from_millis(limit_ms) + TIMEOUT_GRACE);
    tokio::pin!(limit);
    let ended = loop {
        tokio::select! {
            ended = &mut work => break Some(ended),
            () = &mut limit => break None,
            // A command that pauses does not keep back what it printed before.
            () = tokio::time::sleep(COALESCE) => pieces.flush(),
        }
    };
    let result = match ended {
        Some(Ok(result)) => result,
        Some(Err(broken)) if broken.is_panic() => Err(broke_off()),
        Some(Err(_)) => Err(ToolError::Cancelled),
        None => {
            // First politely, so that a process group ends; then for good.
            cancel.cancel();
            if tokio::time::timeout(TIMEOUT_GRACE, &mut work)
                .await
                .is_err()
            {
                work.abort();
            }
            Err(ToolError::TimedOut(format!(
                "Timed out after {} s.",
                limit_ms / 1000
            )))
        }
    };
    pieces.flush();
    Ran {
        result,
        duration_ms: session.shared.config.clock.elapsed_ms(began),
    }
}

/// The tool has a fault that it did not handle.
pub(crate) fn broke_off() -> ToolError {
    ToolError::Failed(
        "The tool broke off by a fault of its own. Try it with other arguments.".to_owned(),
    )
}

/// Says that what was shown is no longer so, if that is why the call did not run.
pub(crate) fn files_changed(ran: &Ran) -> Option<String> {
    match ran.result.as_ref().err()? {
        ToolError::Stale(_) => {
            Some("The file changed after you allowed this, so nothing was written and what is shown is new.".to_owned())
        }
        ToolError::Failed(_)
        | ToolError::NotFound(_)
        | ToolError::InvalidArgs(_)
        | ToolError::Cancelled
        | ToolError::TimedOut(_) => None,
    }
}

/// Joins small pieces of live output, so that a chatty command costs few events.
struct Pieces {
    session: Arc<Session>,
    call: CallId,
    open: Mutex<(String, Option<Instant>)>,
}

impl Pieces {
    fn new(session: Arc<Session>, call: CallId) -> Self {
        Self {
            session,
            call,
            open: Mutex::default(),
        }
    }

    fn add(&self, text: &str) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let (joined, since) = &mut *open;
        joined.push_str(text);
        let due = joined.len() >= COALESCE_BYTES
            || since.get_or_insert_with(Instant::now).elapsed() >= COALESCE;
        if due {
            *since = None;
            self.tell(std::mem::take(joined));
        }
    }

    fn flush(&self) {
        let (joined, _) =
            std::mem::take(&mut *self.open.lock().unwrap_or_else(PoisonError::into_inner));
        if !joined.is_empty() {
            self.tell(joined);
        }
    }

    fn tell(&self, text: String) {
        self.session.journal.tell(EventBody::CallOutput {
            call: self.call.clone(),
            text,
        });
    }
}
