//! Step 8 of a delegated call: its program runs it, or fetches what its command printed, which commits the effects that
//! were approved.

use std::time::Duration;

use policy::Approved;
use protocol::{Digest, ToolError, ToolOutput, UserError};
use tokio_util::sync::CancellationToken;

use crate::limits::{DELEGATED_RUN_MIN, FETCH_MAX};
use crate::pipeline::call_context::CallContext;
use crate::pipeline::dry_run::DryRunResult;
use crate::pipeline::outcome::ToolRun;
use crate::session::delegates::{Delegate, DelegateReport, DelegatedRun, FetchReply};

/// Text for the record when a program says nothing of a call that it may have run.
const NO_REPORT_TEXT: &str = "The agent did not report what came of it.";

/// Lets the program run the call as it requested it, and waits for the result.
pub(in crate::pipeline) async fn run_as_requested(
    cx: &CallContext<'_>,
    delegate: &Delegate,
) -> ToolRun {
    let began = cx.session.engine.now();
    let result = match delegate.approve(DelegatedRun::AsRequested) {
        true => wait_for_result(cx, delegate).await,
        false => Err(ToolError::Cancelled),
    };
    ToolRun {
        result,
        duration_ms: cx.session.engine.config.clock.elapsed_ms(began),
    }
}

async fn wait_for_result(
    cx: &CallContext<'_>,
    delegate: &Delegate,
) -> Result<ToolOutput, ToolError> {
    let stop = cx.session.call_cancellation(&cx.call.id);
    let limit = Duration::from_millis(cx.tool.interface().timeout_ms()).max(DELEGATED_RUN_MIN);
    loop {
        match next_report(delegate, &stop, limit).await {
            Some(DelegateReport::Ended(result)) => return *result,
            Some(DelegateReport::Fetch { reply, .. }) => {
                // Nobody reads the reply if the program is gone.
                let _ = reply.send(Err(nothing_to_fetch_error()));
            }
            None if stop.is_cancelled() => return Err(ToolError::Cancelled),
            // The program may have run it: what stands in the files is looked at as after a success.
            None => return Ok(ToolOutput::new(NO_REPORT_TEXT, NO_REPORT_TEXT)),
        }
    }
}

/// Waits until the program fetches what the command printed, and commits the captured effects before it gets it.
pub(super) async fn commit_on_fetch(
    cx: &CallContext<'_>,
    approved: &Approved,
    result: &DryRunResult,
    delegate: &Delegate,
) -> ToolRun {
    let reply = match wait_for_fetch(cx, approved, delegate).await {
        Ok(reply) => reply,
        Err(error) => {
            return ToolRun {
                result: Err(error),
                duration_ms: 0,
            };
        }
    };
    let run = result.commit(cx.session, approved).await;
    let failure = run.result.as_ref().err();
    send_streams(delegate, failure.map(ToString::to_string), reply);
    run
}

/// Waits until the program fetches what was approved, by the digest of its arguments and effects.
///
/// # Errors
/// It does not, or the call is stopped.
pub(in crate::pipeline) async fn wait_for_fetch(
    cx: &CallContext<'_>,
    approved: &Approved,
    delegate: &Delegate,
) -> Result<FetchReply, ToolError> {
    let stop = cx.session.call_cancellation(&cx.call.id);
    let digest = Digest::from_json(&(approved.arguments(), approved.plan().digest()));
    let approved = DelegatedRun::Fetch {
        digest: digest.clone(),
    };
    if !delegate.approve(approved) {
        return Err(ToolError::Cancelled);
    }
    loop {
        match next_report(delegate, &stop, FETCH_MAX).await {
            Some(DelegateReport::Fetch { expected, reply }) if expected == digest => {
                return Ok(reply);
            }
            Some(DelegateReport::Fetch { reply, .. }) => {
                // Nobody reads the reply if the program is gone.
                let _ = reply.send(Err(other_digest_error()));
            }
            Some(DelegateReport::Ended(_)) | None if stop.is_cancelled() => {
                return Err(ToolError::Cancelled);
            }
            Some(DelegateReport::Ended(_)) | None => {
                return Err(ToolError::Failed(
                    "The agent did not run what was approved, so nothing was changed.".to_owned(),
                ));
            }
        }
    }
}

/// Gives the program what the command printed, once its effects are real; or the reason why they are not.
pub(in crate::pipeline) fn send_streams(
    delegate: &Delegate,
    failure: Option<String>,
    reply: FetchReply,
) {
    let streams = match failure {
        None => delegate.streams.take().ok_or_else(nothing_to_fetch_error),
        Some(why) => Err(UserError::new(
            format!("What was approved was not carried out: {why}"),
            "Look at the files, and request the command again.",
        )),
    };
    // Nobody reads the reply if the program is gone; what it did stands on record.
    let _ = reply.send(streams);
}

/// Waits for the next report; none if there is none in this time, if the call was stopped, or if the program is gone.
async fn next_report(
    delegate: &Delegate,
    stop: &CancellationToken,
    within: Duration,
) -> Option<DelegateReport> {
    tokio::select! {
        biased;
        report = delegate.next_report() => report,
        () = stop.cancelled() => None,
        () = tokio::time::sleep(within) => None,
    }
}

fn nothing_to_fetch_error() -> UserError {
    UserError::new(
        "There is no output of a command to fetch for this call.",
        "Request the command again.",
    )
}

fn other_digest_error() -> UserError {
    UserError::new(
        "What was approved has another digest, so nothing was carried out.",
        "Run the command exactly as it was given.",
    )
}
