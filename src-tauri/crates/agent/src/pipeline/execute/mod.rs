//! Step 8: running the tool within its limits, so that it can be stopped and cannot take anything else down with it.

pub(in crate::pipeline) mod delegated;
pub(crate) mod home_caches;
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
use protocol::{ToolError, UndoEntry};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tools::{ExecutionContext, OutputFn, ToolContext};

use crate::limits::{COALESCE_DELAY, TIMEOUT_GRACE};
use crate::permissions::egress;
use crate::pipeline::abort::Abort;
use crate::pipeline::attempt::{Attempt, Step};
use crate::pipeline::call_context::CallContext;
use crate::pipeline::dry_run::DryRunResult;
use crate::pipeline::execute::updates::UpdateSender;
use crate::pipeline::outcome::ToolRun;
use crate::pipeline::prepare::PreparedCall;
use crate::pipeline::resolve::ResolvedTool;
use crate::pipeline::snapshot::FileCopy;
use crate::pipeline::verdict::Assessment;
use crate::pipeline::{outcome, snapshot};
use crate::session::Session;
use crate::session::elicitation::ElicitationHandler;
use crate::session::run_state::own_files::OwnFiles;

/// Payload of a panic in a tool.
type PanicPayload = Box<dyn Any + Send>;

/// How an approved call runs.
pub(crate) enum ExecutionMode {
    /// In a dry run first: its effects are judged and shown before they are real.
    DryRunFirst,
    /// By committing the effects that its dry run captured.
    Commit(Box<DryRunResult>),
    /// In place, for real: over a snapshot of the workspace, and with network access to these hosts.
    InPlace {
        hosts: Vec<String>,
        /// Result of an earlier dry run of the call, if there was one.
        dry_run: Option<Box<DryRunResult>>,
    },
    /// Directly; the files that its plan touches are copied first if that makes the call undoable.
    Direct,
}

impl ExecutionMode {
    /// Chooses how the call runs: in place if a person said so or no stronger protection is available on this machine,
    /// else by its dry run if it can have one. A command that its program runs itself runs in place after its dry run,
    /// over a snapshot. `chosen` holds the hosts that the call may reach, if somebody chose to
    /// run it in place.
    ///
    /// # Errors
    /// A named host may not be reached.
    pub fn choose(
        cx: &CallContext<'_>,
        assessed: &Assessment,
        chosen: Option<Vec<String>>,
        dry_run: Option<Box<DryRunResult>>,
    ) -> Result<Self, Abort> {
        let hosts = match chosen {
            Some(hosts) if !hosts.is_empty() => Some(check_hosts(cx.session, &hosts)?),
            Some(none) => Some(none),
            None => {
                let in_place = assessed.prepared.in_place;
                in_place.then(|| assessed.allowed_hosts.clone())
            }
        };
        Ok(match (hosts, dry_run) {
            (Some(hosts), dry_run) => Self::InPlace { hosts, dry_run },
            (None, _) if assessed.prepared.can_dry_run => Self::DryRunFirst,
            (None, Some(result)) if !cx.is_held() && !result.is_response() => Self::InPlace {
                hosts: Vec::new(),
                dry_run: Some(result),
            },
            (None, Some(result)) => Self::Commit(result),
            (None, None) => Self::Direct,
        })
    }
}

fn check_hosts(session: &Session, hosts: &[String]) -> Result<Vec<String>, Abort> {
    let now = session.engine.now();
    egress::check_hosts(hosts, &session.rules(), now)
        .map_err(|fault| outcome::failed_outcome(&ToolError::Failed(fault.message)).into())
}

/// A call that ran, and its undo entry that is still to be marked as applied or failed.
pub(crate) struct FinishedRun {
    pub run: ToolRun,
    pub undo_entry: Option<Box<UndoEntry>>,
}

/// Runs the tool, or commits the effects that its dry run captured, once a copy for undo is taken.
pub(crate) async fn run(
    cx: &CallContext<'_>,
    prepared: &PreparedCall,
    approved: Approved,
    captured: Option<Box<DryRunResult>>,
) -> Result<Step<FinishedRun>, Abort> {
    let undo_entry = match snapshot::take_copy(cx.session, &approved, prepared).await? {
        FileCopy::Taken(entry) => entry,
        FileCopy::Failed(why) => return Ok(Step::Retry(Attempt::without_snapshot(why, captured))),
        FileCopy::Changed => return Ok(Step::Retry(Attempt::after_change(CHANGED_REASON))),
    };
    record_start(cx).await?;
    let written = OwnFiles::from_plan(approved.plan(), &prepared.changes.kept);
    let run = match (captured, cx.delegate()) {
        (Some(result), Some(delegate)) if delegate.can_fetch => {
            delegated::commit_on_fetch(cx, &approved, &result, &delegate).await
        }
        (Some(result), _) => result.commit(cx.session, &approved).await,
        (None, Some(delegate)) if is_as_requested(cx, prepared, &approved) => {
            delegated::run_as_requested(cx, &delegate).await
        }
        (None, _) => {
            let tool_context = network_guard::guard_network(cx, prepared);
            run_tool(cx, approved, tool_context).await
        }
    };
    if run.result.is_ok() {
        cx.session.add_own_files(written);
    }
    Ok(Step::Done(FinishedRun { run, undo_entry }))
}

/// Whether what was approved is the call as its program requested it. Otherwise the call runs here, and the program is
/// told what was done instead.
fn is_as_requested(cx: &CallContext<'_>, prepared: &PreparedCall, approved: &Approved) -> bool {
    cx.edited.is_none() && approved.plan() == &prepared.plan
}

/// Records on disk that the call begins, before it does.
pub(super) async fn record_start(cx: &CallContext<'_>) -> Result<(), Abort> {
    let may_change = cx.tool.may_change();
    let journal = &cx.session.journal;
    Ok(journal.record_start_synced(&cx.call.id, may_change).await?)
}

/// Runs the tool. A panic, a time-out and a stop are errors of this one call (`S001-25`). Steering ends the tool if its
/// interface asks for that (M09). Dropping the future ends the tool too.
pub(super) async fn run_tool(
    cx: &CallContext<'_>,
    approved: Approved,
    tool_context: ToolContext,
) -> ToolRun {
    let tool = cx.tool.0.tool.clone();
    run_with_limits(cx, |context| async move {
        tool.execute(&approved, &tool_context, &context).await
    })
    .await
}

/// State that accompanies the work of a tool while it runs.
struct RunningCall {
    cancel: CancellationToken,
    elicitation: Arc<ElicitationHandler>,
    updates: Arc<UpdateSender>,
}

/// Runs a piece of a tool's work within its limits, and sends its updates.
pub(super) async fn run_with_limits<T, W>(
    cx: &CallContext<'_>,
    work: impl FnOnce(ExecutionContext) -> W,
) -> ToolRun<T>
where
    T: Send + 'static,
    W: Future<Output = Result<T, ToolError>> + Send + 'static,
{
    let (session, call) = (cx.session, &cx.call.id);
    let began = session.engine.now();
    let stop = session.call_cancellation(call);
    let running = RunningCall {
        cancel: stop.child_token(),
        elicitation: ElicitationHandler::register(session, call),
        updates: Arc::new(UpdateSender::new(cx)),
    };
    let updates = &running.updates;
    let (output, update, progress) = (updates.clone(), updates.clone(), updates.clone());
    let streams = cx.delegate().map(|delegate| delegate.streams.clone());
    // The streams of a command are kept as they are; what is shown live is masked.
    let is_shown = streams.is_none();
    let on_output: OutputFn = Arc::new(move |text: &str| output.push_output(text));
    let context = ExecutionContext {
        tool_call_id: call.clone(),
        tool_name: cx.tool.id().to_owned(),
        cancel: running.cancel.clone(),
        on_output: is_shown.then_some(on_output),
        on_update: Some(Arc::new(move |partial| update.push_partial(partial))),
        on_progress: Some(Arc::new(move |text: &str| progress.set_progress(text))),
        sub_agent_spawner: Some((session.engine.sub_agent_spawner)(session.clone())),
        elicitation: Some(running.elicitation.clone()),
        streams,
    };
    // A fault of a tool is its own.
    let mut work = AssertUnwindSafe(work(context)).catch_unwind().boxed();
    let at_once = match runs_inline(&cx.tool) {
        true => (&mut work).now_or_never(),
        false => None,
    };
    let result = match at_once {
        Some(ended) => ended.unwrap_or_else(|_panic| Err(internal_error())),
        None => run_to_end(cx, &running, work).await,
    };
    running.elicitation.unregister();
    running.updates.finish().await;
    ToolRun {
        result,
        duration_ms: session.engine.config.clock.elapsed_ms(began),
    }
}

/// Whether a tool cannot block anything else: a built-in one that requires nothing of the machine. Such work is first
/// polled inline; a task of its own costs more than the work, and waking a thread for it even more.
fn runs_inline(tool: &ResolvedTool<'_>) -> bool {
    let interface = tool.interface();
    interface.origin == ToolOrigin::BuiltIn && interface.requires.is_empty()
}

/// Runs the work of a tool in a task of its own, until it ends or its time is up.
async fn run_to_end<T: Send + 'static>(
    cx: &CallContext<'_>,
    running: &RunningCall,
    work: BoxFuture<'static, Result<Result<T, ToolError>, PanicPayload>>,
) -> Result<T, ToolError> {
    let RunningCall {
        cancel,
        elicitation,
        updates,
    } = running;
    let session = cx.session;
    let limit_ms = cx.tool.interface().timeout_ms();
    let limit = Duration::from_millis(limit_ms) + TIMEOUT_GRACE;
    let mut work = AbortOnDropHandle::new(tokio::spawn(work));
    let at_work_since = Instant::now();
    let mut alarm = session.timers.acquire();
    let steered = session.wait_for_steering();
    tokio::pin!(steered);
    let mut gives_way = match cx.tool.interface().execution.interrupt_behavior {
        InterruptBehavior::Cancel => true,
        InterruptBehavior::Block => false,
    };
    let ended = loop {
        // Time spent waiting for the person does not count against the limit.
        let rest = (limit + elicitation.paused_time()).saturating_sub(at_work_since.elapsed());
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

/// Returns the error for a fault that the tool did not handle.
pub(crate) fn internal_error() -> ToolError {
    ToolError::Failed(
        "The tool broke off by a fault of its own. Try it with other arguments.".to_owned(),
    )
}

/// Message for the person whose approval no longer matches the files.
pub(crate) const CHANGED_REASON: &str =
    "The file changed after you allowed this, so nothing was written and what is shown is new.";

/// Returns the message that the files changed after they were shown, if that is why the call did not run.
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
