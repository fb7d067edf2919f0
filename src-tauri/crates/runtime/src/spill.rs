//! The per-session folder for output that is too long for a result (`S002-70`).

use std::path::{Path, PathBuf};

use protocol::{CallId, SessionId};

use crate::FileError;

/// The folder of one session, for the owner alone.
#[derive(Debug)]
pub struct SessionFolder {
    path: PathBuf,
}

impl SessionFolder {
    /// Opens or creates the folder of a session below the data folder.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(data_dir: &Path, session: &SessionId) -> Result<Self, FileError> {
        Ok(Self {
            path: data_dir.join("sessions").join(session.as_str()),
        })
    }

    /// Where it is, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a call's whole output; returns the absolute path that `read` takes (`S002-69`).
    ///
    /// # Errors
    /// What the system says.
    pub fn spill(&self, call: &CallId, bytes: &[u8]) -> Result<PathBuf, FileError> {
        let _ = bytes;
        Err(FileError::other(call.as_str(), "not built yet"))
    }

    /// Removes the folder with all that is in it (`S002-71`).
    ///
    /// # Errors
    /// What the system says.
    pub fn remove(self) -> Result<(), FileError> {
        Err(FileError::other(
            self.path.display().to_string(),
            "not built yet",
        ))
    }
}
