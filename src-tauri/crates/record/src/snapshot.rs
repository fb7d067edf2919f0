//! A copy of a database as of one moment, taken while others go on with it.

use std::path::Path;

use crate::open::{check_file, open_connection};
use crate::{Record, RecordError};

impl Record {
    /// Writes a copy of the database `file` as of this moment to `new`, which must not exist. Others may record meanwhile.
    ///
    /// # Errors
    /// The database is damaged, newer or something else; or the copy cannot be written.
    pub fn write_snapshot(file: &Path, new: &Path) -> Result<(), RecordError> {
        check_file(file)?;
        // Reads every page, so a copy of a damaged database is refused.
        open_connection(file)?.execute("VACUUM INTO ?1", [new.to_string_lossy()])?;
        Ok(())
    }
}
