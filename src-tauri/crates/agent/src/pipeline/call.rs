//! One call from its proposal to its recorded end: it walks the page, and however that goes, its end is on record.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use protocol::{Outcome, UserError};

use crate::pipeline::abort::Abort;
use crate::pipeline::hooks;
use crate::pipeline::run_pipeline;
use crate::pipeline::{execute, outcome};
use crate::session::Session;
use crate::session::conversation::OpenCall;

/// Walks the page with one call and records how it ended. Fails only if the record does.
pub(crate) async fn run_call(
    session: &Arc<Session>,
    open: &OpenCall,
) -> Result<Outcome, UserError> {
    let call = &open.call;
    // A tool that panics, wherever on the page, ends its own call and nothing beside it.
    let mut hooked = None;
    let walk = AssertUnwindSafe(run_pipeline(session, open, &mut hooked));
    let (mut outcome, touched) = match walk.catch_unwind().await {
        Ok(Ok(ended)) => ended,
        Ok(Err(Abort::Outcome(outcome))) => (outcome::redact_outcome(*outcome), false),
        Ok(Err(Abort::Closing)) => return Err(UserError::new("The app is closing.", "")),
        Ok(Err(Abort::Fault(fault))) => return Err(fault),
        Err(_panic) => (outcome::failed_outcome(&execute::internal_error()), false),
    };
    outcome.ended_at = session.engine.config.clock.now();
    session
        .journal
        .record_end_synced(&call.id, &outcome, touched)
        .await?;
    hooks::run_after_execution(session, hooked, &outcome).await;
    Ok(outcome)
}
