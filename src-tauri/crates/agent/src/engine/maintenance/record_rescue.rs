//! Rescuing the damaged record of a data folder: what can be read of it is saved in a new one.

use std::path::{Path, PathBuf};

use protocol::UserError;
use record::{Record, Rescued};

use crate::engine::maintenance::folder_use::claim_data_folder;
use crate::engine::maintenance::record_check::record_path;

/// Saves what can be read of the record of a data folder in a new file. The record is not changed.
///
/// # Errors
/// Nothing can be read, or the new file exists or cannot be written.
pub fn rescue_record(data_dir: &Path, new: &Path) -> Result<Rescued, UserError> {
    Ok(Record::rescue(&record_path(data_dir), new)?)
}

/// Saves what can be read of the record of a data folder, and puts it in the place of the damaged one, which is kept
/// beside it under the returned name.
///
/// # Errors
/// As for [`rescue_record`]; or an engine is open on the folder.
pub fn replace_damaged_record(data_dir: &Path) -> Result<(Rescued, PathBuf), UserError> {
    let _alone = claim_data_folder(data_dir)?;
    Ok(Record::replace_damaged(&record_path(data_dir))?)
}
