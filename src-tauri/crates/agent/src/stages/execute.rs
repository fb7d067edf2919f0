//! Stage 12: the tool runs, within its limits, able to be stopped, and unable to take anything else down with it.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use policy::Approved;
use protocol::interface::{InterruptBehavior, Origin};
use protocol::{CallId, ToolError};
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tools::{Hands, ToolContext};

use super::finish::Ran;
use super::found::Called;
use super::updates::Updates;
use super::{Ended, stopped};
use crate::asks::Asker;
use crate::delegate::Sender;
use crate::hooks::{self, Hooked, HookedCall};
use crate::limits::{COALESCE, TIMEOUT_GRACE};
use crate::session::Session;

/// What a tool that panics leaves behind.
type Panic = Box<dyn Any + Send>;

/// Asks the hooks before anything is done that counts.
pub(crate) async fn ask_hooks(
    session: &Session,
    call: &CallId,
    tool: &Called<'_>,
    arguments: &Map<String, Value>,
    hooked: &mut Hooked,
) -> Result<(), Ended> {
    let about = hooks::hooked(session, call, Some(tool), tool.id(), arguments);
    let before = hooks::before(session, about).await;
    *hooked = before.map_err(stopped::hooked)?;
    Ok(())
}

/// Runs the tool. A panic, a time-out and a stop are errors of this one call (`S001-25`). Steering ends it if it is a tool
/// that wants that (M09). Whoever drops this ends the tool too.
pub(crate) async fn run(
    session: &Arc<Session>,
    called: &Called<'_>,
    approved: Approved,
    hands: Hands,
    hooked: Option<Arc<HookedCall>>,
) -> Ran {
    let (tool, call) = (called.0.tool.clone(), approved.call().clone());
    watched(session, called, call, hooked, |context| async move {
        tool.execute(&approved, &hands, &context).await
    })
    .await
}

/// Does a piece of a tool's work within its limits, with its updates told.
pub(super) async fn watched<T, W>(
    session: &Arc<Session>,
    called: &Called<'_>,
    call: CallId,
    hooked: Option<Arc<HookedCall>>,
    work: impl FnOnce(ToolContext) -> W,
) -> Ran<T>
where
    T: Send + 'static,
    W: Future<Output = Result<T, ToolError>> + Send + 'static,
{
    let began = session.shared.config.clock.now();
    let stop = session.stop_of(&call);
    let cancel = stop.child_token();
    let updates = Arc::new(Updates::new(session.clone(), call.clone(), called, hooked));
    let (output, update, progress) = (updates.clone(), updates.clone(), updates.clone());
    let asker = Asker::begin(session, &call);
    let context = ToolContext {
        tool_call_id: call,
        tool_name: called.id().to_owned(),
        cancel: cancel.clone(),
        on_output: Some(Arc::new(move |text: &str| output.output(text))),
        on_update: Some(Arc::new(move |partial| update.partial(partial))),
        on_progress: Some(Arc::new(move |text: &str| progress.progress(text))),
        delegates: Some(Arc::new(Sender(session.clone()))),
        asks: Some(asker.clone()),
    };
    // A fault of a tool is its own.
    let mut work = AssertUnwindSafe(work(context)).catch_unwind().boxed();
    let at_once = match keeps_to_itself(called) {
        true => (&mut work).now_or_never(),
        false => None,
    };
    let result = match at_once {
        Some(ended) => ended.unwrap_or_else(|_panic| Err(broke_off())),
        None => to_its_end(session, called, work, (&cancel, &asker, &updates)).await,
    };
    asker.end();
    updates.end().await;
    Ran {
        result,
        duration_ms: session.shared.config.clock.elapsed_ms(began),
    }
}

/// Whether a tool can hold nobody up: one of the house that needs nothing of the machine. What it does at once is done
/// here; a task for it alone costs more than such work, and a thread that is woken for it more again.
fn keeps_to_itself(called: &Called<'_>) -> bool {
    let interface = called.interface();
    interface.origin == Origin::BuiltIn && interface.requires.is_empty()
}

/// The work of a tool in a task of its own, until it ends or its time is up.
async fn to_its_end<T: Send + 'static>(
    session: &Session,
    called: &Called<'_>,
    work: BoxFuture<'static, Result<Result<T, ToolError>, Panic>>,
    (cancel, asker, updates): (&CancellationToken, &Asker, &Updates),
) -> Result<T, ToolError> {
    let limit_ms = called.interface().timeout_ms();
    let limit = Duration::from_millis(limit_ms) + TIMEOUT_GRACE;
    let mut work = AbortOnDropHandle::new(tokio::spawn(work));
    let at_work_since = Instant::now();
    let mut alarm = session.alarms.take();
    let steered = session.steered();
    tokio::pin!(steered);
    let mut gives_way = match called.interface().execution.interrupt_behavior {
        InterruptBehavior::Cancel => true,
        InterruptBehavior::Block => false,
    };
    let ended = loop {
        // Who waits for the person is not slow.
        let rest = (limit + asker.rested()).saturating_sub(at_work_since.elapsed());
        if rest.is_zero() {
            break None;
        }
        alarm.as_mut().reset(Instant::now() + rest.min(COALESCE));
        tokio::select! {
            biased;
            ended = &mut work => break Some(ended),
            () = &mut steered, if gives_way => {
                gives_way = false;
                cancel.cancel();
            }
            // A command that pauses does not keep back what it printed before.
            () = &mut alarm => updates.flush().await,
        }
    };
    session.alarms.give_back(alarm);
    match ended {
        Some(Ok(Ok(result))) => result,
        Some(Ok(Err(_panic))) => Err(broke_off()),
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
    }
}

/// The tool has a fault that it did not handle.
pub(crate) fn broke_off() -> ToolError {
    ToolError::Failed(
        "The tool broke off by a fault of its own. Try it with other arguments.".to_owned(),
    )
}

/// What a person is told whose word came to something that is not there any more.
pub(crate) const CHANGED: &str =
    "The file changed after you allowed this, so nothing was written and what is shown is new.";

/// Says that what was shown is no longer so, if that is why the call did not run.
pub(crate) fn files_changed(ran: &Ran) -> Option<String> {
    match ran.result.as_ref().err()? {
        ToolError::Stale(_) => Some(CHANGED.to_owned()),
        ToolError::Failed(_)
        | ToolError::NotFound(_)
        | ToolError::InvalidArgs(_)
        | ToolError::Cancelled
        | ToolError::TimedOut(_) => None,
    }
}
