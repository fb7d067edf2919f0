//! One call from its proposal to its recorded end: it walks the page, and however that goes, its end is on record.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use protocol::{Fault, Outcome};

use crate::conversation::OpenCall;
use crate::hooks;
use crate::pipeline::walk;
use crate::session::Session;
use crate::stages::{Ended, execute, finish};

/// Walks the page with one call and records how it ended. Fails only if the record does.
pub(crate) async fn run(session: &Arc<Session>, open: &OpenCall) -> Result<Outcome, Fault> {
    let call = &open.call;
    // A tool that panics, wherever on the page, ends its own call and nothing beside it.
    let mut hooked = None;
    let walk = AssertUnwindSafe(walk(session, open, &mut hooked));
    let (mut outcome, touched) = match walk.catch_unwind().await {
        Ok(Ok(ended)) => ended,
        Ok(Err(Ended::Early(outcome))) => (finish::redacted(*outcome), false),
        Ok(Err(Ended::Closing)) => return Err(Fault::new("The app is closing.", "")),
        Ok(Err(Ended::Fault(fault))) => return Err(fault),
        Err(_panic) => (finish::failed(&execute::broke_off()), false),
    };
    outcome.ended_at = session.shared.config.clock.now();
    session
        .journal
        .keep_end(&call.id, &outcome, touched)
        .await?;
    hooks::after(session, hooked, &outcome).await;
    Ok(outcome)
}
