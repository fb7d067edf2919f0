//! A data folder whose record is gone while what belongs to it is still there: it is not begun anew without a word.

use std::path::{Path, PathBuf};

use protocol::UserError;
use protocol::text::display_text::format_count;
use record::Record;

/// Where the record of a data folder is.
pub(crate) fn record_path(data_dir: &Path) -> PathBuf {
    data_dir.join("record.db")
}

/// Refuses a folder without a record, or with an empty one, that has copies for undo or files of sessions. Nothing is changed.
///
/// # Errors
/// What is there without its record, and what to do; or that the folder cannot be read.
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
