//! Rescuing the damaged record of a data folder: what can be read of it is saved in a new one.

use std::path::{Path, PathBuf};

use protocol::UserError;
use record::{Record, ReplacedRecord, Rescued};

use crate::engine::maintenance::folder_use::claim_data_folder;
use crate::engine::maintenance::record_check::record_path;

/// Name of a rescued record in the data folder.
pub(crate) const RESCUED_NAME: &str = "record.rescued.db";

/// A record that was saved from a damaged one.
#[derive(Debug)]
pub struct RescuedRecord {
    /// What was saved.
    pub rescued: Rescued,
    /// The record that holds it.
    pub file: PathBuf,
    /// Where the damaged record is now, if its place was taken.
    pub damaged: Option<PathBuf>,
}

/// Saves what can be read of the record of a data folder in a new file: `out`, or one in the data folder. The record is
/// not changed.
///
/// # Errors
/// Nothing can be read, or the new file exists or cannot be written.
pub fn rescue_record(data_dir: &Path, out: Option<PathBuf>) -> Result<RescuedRecord, UserError> {
    let file = out.unwrap_or_else(|| data_dir.join(RESCUED_NAME));
    Ok(RescuedRecord {
        rescued: Record::rescue(&record_path(data_dir), &file)?,
        file,
        damaged: None,
    })
}

/// Saves what can be read of the record of a data folder, and puts it in the place of the damaged one, which is kept
/// beside it.
///
/// # Errors
/// Nothing can be read, an engine is open on the folder, or a file cannot be written or moved.
pub fn replace_damaged_record(data_dir: &Path) -> Result<RescuedRecord, UserError> {
    let _alone = claim_data_folder(data_dir)?;
    let file = record_path(data_dir);
    let ReplacedRecord { rescued, damaged } = Record::replace_damaged(&file)?;
    Ok(RescuedRecord {
        rescued,
        file,
        damaged: Some(damaged),
    })
}
