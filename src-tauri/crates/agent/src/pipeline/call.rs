//! One call from its proposal to its recorded end: however the pipeline ends, the record has the end of the call.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use protocol::{Outcome, UserError};

use crate::pipeline::abort::Abort;
use crate::pipeline::hooks;
use crate::pipeline::{CompletedCall, execute, outcome, run_pipeline};
use crate::session::Session;
use crate::session::conversation::OpenCall;

/// Takes one call through the pipeline and records how the call ended. Fails only if recording fails.
pub(crate) async fn run_call(
    session: &Arc<Session>,
    open: &OpenCall,
) -> Result<Outcome, UserError> {
    let call = &open.call;
    // A tool that panics, at whatever step, ends its own call and nothing beside it.
    let mut hooked = None;
    let pipeline = AssertUnwindSafe(run_pipeline(session, open, &mut hooked));
    let unrun = |outcome| CompletedCall {
        outcome,
        may_have_changed: false,
    };
    let CompletedCall {
        mut outcome,
        may_have_changed,
    } = match pipeline.catch_unwind().await {
        Ok(Ok(completed)) => completed,
        Ok(Err(Abort::Outcome(outcome))) => {
            let mask = session.journal.secret_mask(&call.id);
            unrun(outcome::mask_outcome(
                &mask,
                outcome::redact_outcome(*outcome),
            ))
        }
        Ok(Err(Abort::Closing)) => return Err(UserError::new("The app is closing.", "")),
        Ok(Err(Abort::Fault(fault))) => return Err(fault),
        Err(_panic) => unrun(outcome::failed_outcome(&execute::internal_error())),
    };
    outcome.ended_at = session.engine.now();
    session
        .journal
        .record_end_synced(&call.id, &outcome, may_have_changed)
        .await?;
    hooks::run_after_execution(session, hooked, &outcome).await;
    Ok(outcome)
}
