//! The built-in tool that runs shell commands, and the one that takes over what an agent did in a sandbox.

pub(crate) mod bash;
pub(crate) mod command_facts;
mod command_output;
pub(in crate::builtin) mod enclosed_turn;

use protocol::{Plan, ToolError};
use runtime::{DryRunOutput, Workspace};

use crate::builtin::run_blocking;
use crate::diff::add_file_diffs;

/// Adds the differences of files to the effects of a dry run.
async fn add_differences(
    run: DryRunOutput,
    workspace: &Workspace,
) -> Result<DryRunOutput, ToolError> {
    let workspace = workspace.clone();
    run_blocking(move || {
        let mut run = run;
        if let Plan::Effects(captured) = &run.plan {
            add_file_diffs(&workspace, captured, &mut run.effects);
        }
        Ok(run)
    })
    .await
}
