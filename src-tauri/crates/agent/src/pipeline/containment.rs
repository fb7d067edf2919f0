//! What does not run in an engine that keeps its calls within the workspace: whatever could take effect elsewhere.

use protocol::{CallState, Capability, ToolMode};

use crate::pipeline::abort::Abort;
use crate::pipeline::call_context::CallContext;
use crate::pipeline::execute::ExecutionMode;
use crate::pipeline::outcome;
use crate::pipeline::verdict::Assessment;

/// Ends an approved call that could take effect beyond the workspace, where the host wants calls to stay within it.
///
/// # Errors
/// The call does not run.
pub(super) fn check_containment(
    cx: &CallContext<'_>,
    assessed: &Assessment,
    mode: &ExecutionMode,
) -> Result<(), Abort> {
    if !cx.session.engine.config.contained {
        return Ok(());
    }
    let reason = match mode {
        ExecutionMode::DryRunFirst | ExecutionMode::Commit(_) => None,
        ExecutionMode::InPlace { .. } => Some("this machine cannot do a dry run of it"),
        ExecutionMode::Direct => reach_of_direct_run(assessed),
    };
    reason.map_or(Ok(()), |reason| {
        let text = format!("not run: {reason}");
        Err(outcome::ended_outcome(CallState::Skipped, text.clone(), text).into())
    })
}

/// Returns where a call that runs directly could take effect beyond the workspace; none if it cannot.
fn reach_of_direct_run(assessed: &Assessment) -> Option<&'static str> {
    let facts = assessed.prepared.facts.all();
    let has = |capability: Capability| facts.iter().any(|fact| fact.capability == capability);
    let is_change = |capability| matches!(capability, Capability::FsWrite | Capability::FsDelete);
    let mode = assessed.input.classified.mode;
    if has(Capability::NetFetch) || mode == Some(ToolMode::External) {
        Some("it reaches the network")
    } else if has(Capability::ShellRun) || !assessed.prepared.confinement.is_default() {
        Some("it starts a program that no dry run holds")
    } else if facts
        .iter()
        .any(|fact| is_change(fact.capability) && !fact.inside)
    {
        Some("it changes files outside of the workspace")
    } else {
        None
    }
}
