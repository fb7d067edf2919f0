//! Who uses a data folder. Every engine shares it with others; whoever replaces something that engines keep open has it
//! alone.

use std::path::Path;

use protocol::UserError;
use runtime::{FileLock, try_lock_file, try_share_lock_file};

/// The file whose lock an engine has a part of for as long as it is open.
pub(crate) const LOCK_FILE: &str = "in-use";

/// Shares the data folder until the returned lock is dropped.
///
/// # Errors
/// Somebody has the folder alone, or the lock cannot be taken.
pub(crate) fn share_data_folder(data_dir: &Path) -> Result<FileLock, UserError> {
    let lock = try_share_lock_file(&data_dir.join(LOCK_FILE))?;
    lock.ok_or_else(|| {
        UserError::new(
            format!(
                "The record in {} is just being replaced.",
                data_dir.display()
            ),
            "Wait until that is done, then start again.",
        )
    })
}

/// Has the data folder alone until the returned lock is dropped.
///
/// # Errors
/// An engine is open on the folder, or the lock cannot be taken.
pub(crate) fn claim_data_folder(data_dir: &Path) -> Result<FileLock, UserError> {
    let lock = try_lock_file(&data_dir.join(LOCK_FILE))?;
    lock.ok_or_else(|| {
        UserError::new(
            format!("Another Countersign uses the data folder {}.", data_dir.display()),
            "Close the window, and end the agents and editors that work with Countersign; then try again.",
        )
    })
}
