//! Carries out a plan of writing or removing exactly as it was shown, or not at all.

use protocol::Plan;

use crate::{FileError, Workspace};

mod remove;
mod write;

/// Carries out `plan`.
///
/// The present content is compared with the plan first. Files are replaced by rename and keep their mode; missing
/// folders are created; of several files all are written or none. A tree that is removed is renamed away in one step
/// before its content is. The changes of a command are carried out by [`crate::History::apply_plan`] alone.
///
/// # Errors
/// [`FileError::Changed`] when a path is no longer as the plan saw it; nothing was touched. Otherwise any error
/// reported by the system; changes made so far were taken back.
pub fn apply_plan(workspace: &Workspace, plan: &Plan) -> Result<(), FileError> {
    match plan {
        Plan::None => Ok(()),
        Plan::Write(changes) => write::write_changes(workspace, plan, changes),
        Plan::Remove(removal) => remove::remove_tree(workspace, plan, removal),
        Plan::Effects(_) => Err(FileError::from_display(
            "what the command did",
            "only the history carries it out",
        )),
    }
}

#[cfg(test)]
mod tests;
