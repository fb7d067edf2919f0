//! Stage 12: the tool runs, within its limits, able to be stopped, and unable to take anything else down with it.

pub(crate) mod network_guard;
pub(crate) mod updates;

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use policy::Approved;
use protocol::interface::{InterruptBehavior, ToolOrigin};
use protocol::{CallId, ToolError};
use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tools::{ExecutionContext, ToolContext};

use crate::limits::{COALESCE_DELAY, TIMEOUT_GRACE};
use crate::pipeline::abort::Abort;
use crate::pipeline::early_outcome;
use crate::pipeline::execute::updates::UpdateSender;
use crate::pipeline::hooks;
use crate::pipeline::hooks::{HookContext, HookedCall};
use crate::pipeline::outcome::ToolRun;
use crate::pipeline::resolve::ResolvedTool;
use crate::session::Session;
use crate::session::elicitation::ElicitationHandler;
use crate::session::sub_agent_task::SubAgentRunner;

/// What a tool that panics leaves behind.
type PanicPayload = Box<dyn Any + Send>;

/// Asks the hooks before anything is done that counts.
pub(crate) async fn run_before_hooks(
    session: &Session,
    call: &CallId,
    tool: &ResolvedTool<'_>,
    arguments: &Map<String, Value>,
    hooked: &mut HookContext,
) -> Result<(), Abort> {
    let about = hooks::hook_context(session, call, Some(tool), tool.id(), arguments);
    let before = hooks::run_before_execution(session, about).await;
    *hooked = before.map_err(early_outcome::abort_by_hook)?;
    Ok(())
}

/// Runs the tool. A panic, a time-out and a stop are errors of this one call (`S001-25`). Steering ends it if it is a tool
/// that wants that (M09). Whoever drops this ends the tool too.
pub(crate) async fn run_tool(
    session: &Arc<Session>,
    called: &ResolvedTool<'_>,
    approved: Approved,
    hands: ToolContext,
    hooked: Option<Arc<HookedCall>>,
) -> ToolRun {
    let (tool, call) = (called.0.tool.clone(), approved.call().clone());
    run_with_limits(session, called, call, hooked, |context| async move {
        tool.execute(&approved, &hands, &context).await
    })
    .await
}

/// Does a piece of a tool's work within its limits, with its updates told.
pub(super) async fn run_with_limits<T, W>(
    session: &Arc<Session>,
    called: &ResolvedTool<'_>,
    call: CallId,
    hooked: Option<Arc<HookedCall>>,
    work: impl FnOnce(ExecutionContext) -> W,
) -> ToolRun<T>
where
    T: Send + 'static,
    W: Future<Output = Result<T, ToolError>> + Send + 'static,
{
    let began = session.engine.config.clock.now();
    let stop = session.call_cancellation(&call);
    let cancel = stop.child_token();
    let updates = Arc::new(UpdateSender::new(
        session.clone(),
        call.clone(),
        called,
        hooked,
    ));
    let (output, update, progress) = (updates.clone(), updates.clone(), updates.clone());
    let asker = ElicitationHandler::register(session, &call);
    let context = ExecutionContext {
        tool_call_id: call,
        tool_name: called.id().to_owned(),
        cancel: cancel.clone(),
        on_output: Some(Arc::new(move |text: &str| output.push_output(text))),
        on_update: Some(Arc::new(move |partial| update.push_partial(partial))),
        on_progress: Some(Arc::new(move |text: &str| progress.set_progress(text))),
        sub_agent_spawner: Some(Arc::new(SubAgentRunner(session.clone()))),
        elicitation: Some(asker.clone()),
    };
    // A fault of a tool is its own.
    let mut work = AssertUnwindSafe(work(context)).catch_unwind().boxed();
    let at_once = match runs_inline(called) {
        true => (&mut work).now_or_never(),
        false => None,
    };
    let result = match at_once {
        Some(ended) => ended.unwrap_or_else(|_panic| Err(internal_error())),
        None => run_to_end(session, called, work, (&cancel, &asker, &updates)).await,
    };
    asker.unregister();
    updates.finish().await;
    ToolRun {
        result,
        duration_ms: session.engine.config.clock.elapsed_ms(began),
    }
}

/// Whether a tool can hold nobody up: one of the house that needs nothing of the machine. What it does at once is done
/// here; a task for it alone costs more than such work, and a thread that is woken for it more again.
fn runs_inline(called: &ResolvedTool<'_>) -> bool {
    let interface = called.interface();
    interface.origin == ToolOrigin::BuiltIn && interface.requires.is_empty()
}

/// The work of a tool in a task of its own, until it ends or its time is up.
async fn run_to_end<T: Send + 'static>(
    session: &Session,
    called: &ResolvedTool<'_>,
    work: BoxFuture<'static, Result<Result<T, ToolError>, PanicPayload>>,
    (cancel, asker, updates): (&CancellationToken, &ElicitationHandler, &UpdateSender),
) -> Result<T, ToolError> {
    let limit_ms = called.interface().timeout_ms();
    let limit = Duration::from_millis(limit_ms) + TIMEOUT_GRACE;
    let mut work = AbortOnDropHandle::new(tokio::spawn(work));
    let at_work_since = Instant::now();
    let mut alarm = session.timers.acquire();
    let steered = session.wait_for_steering();
    tokio::pin!(steered);
    let mut gives_way = match called.interface().execution.interrupt_behavior {
        InterruptBehavior::Cancel => true,
        InterruptBehavior::Block => false,
    };
    let ended = loop {
        // Who waits for the person is not slow.
        let rest = (limit + asker.paused_time()).saturating_sub(at_work_since.elapsed());
        if rest.is_zero() {
            break None;
        }
        alarm
            .as_mut()
            .reset(Instant::now() + rest.min(COALESCE_DELAY));
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
    session.timers.release(alarm);
    match ended {
        Some(Ok(Ok(result))) => result,
        Some(Ok(Err(_panic))) => Err(internal_error()),
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
pub(crate) fn internal_error() -> ToolError {
    ToolError::Failed(
        "The tool broke off by a fault of its own. Try it with other arguments.".to_owned(),
    )
}

/// What a person is told whose word came to something that is not there any more.
pub(crate) const CHANGED_REASON: &str =
    "The file changed after you allowed this, so nothing was written and what is shown is new.";

/// Says that what was shown is no longer so, if that is why the call did not run.
pub(crate) fn changed_files_reason(ran: &ToolRun) -> Option<String> {
    match ran.result.as_ref().err()? {
        ToolError::Stale(_) => Some(CHANGED_REASON.to_owned()),
        ToolError::Failed(_)
        | ToolError::NotFound(_)
        | ToolError::InvalidArgs(_)
        | ToolError::Cancelled
        | ToolError::TimedOut(_) => None,
    }
}
