//! Check for a data folder whose record is missing although its other files exist: such a folder is not started anew
//! silently.

use std::path::{Path, PathBuf};

use protocol::UserError;
use protocol::text::display_text::format_count;
use record::Record;

/// Name of the record in a data folder.
pub(crate) const RECORD_NAME: &str = "record.db";

/// Returns the path of a data folder's record.
pub(crate) fn record_path(data_dir: &Path) -> PathBuf {
    data_dir.join(RECORD_NAME)
}

/// Rejects a folder without a record, or with an empty one, that has copies for undo or session files. Nothing is
/// changed.
///
/// # Errors
/// Returns which files exist without a record, and what to do; or that the folder cannot be read.
pub(crate) fn check_record_exists(data_dir: &Path) -> Result<(), UserError> {
    let file = record_path(data_dir);
    if !Record::is_blank(&file) {
        return Ok(());
    }
    let changes = runtime::list_file_names(&data_dir.join("history/entries"))?.len();
    let sessions = runtime::list_file_names(&data_dir.join("sessions"))?.len();
    if changes + sessions == 0 {
        return Ok(());
    }
    let message = format!(
        "The record {} is missing or empty, but {} that can be undone and the files of {} lie beside it.",
        file.display(),
        format_count(changes as u64, "change"),
        format_count(sessions as u64, "session")
    );
    let hint = "Put a backup of record.db in its place. To begin a new record, choose another data folder, or move the folders `history` and `sessions` away. Nothing was changed.";
    Err(UserError::new(message, hint))
}
