//! Carries out a plan exactly as it was shown, or not at all.

use protocol::Plan;

use crate::{FileError, Workspace};

/// Carries out `plan`.
///
/// What stands there is compared with the plan first. Files are replaced by rename and keep their mode; missing
/// folders are created; of several files all are written or none.
///
/// # Errors
/// [`FileError::Changed`] when something is no longer as the plan saw it; nothing was touched. Else what the system said;
/// what had been done was taken back.
pub fn apply(workspace: &Workspace, plan: &Plan) -> Result<(), FileError> {
    let _ = workspace;
    Err(FileError::other(plan.paths().join(", "), "not built yet"))
}
