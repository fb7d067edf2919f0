//! A folder for files that are made up before they take their place.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::FileError;
use crate::fs::at_path::AtPath as _;

/// A folder for its owner alone, removed when dropped unless it is kept.
#[derive(Debug)]
pub struct ScratchFolder(TempDir);

impl ScratchFolder {
    /// Creates a folder on the same disk as `path`: beside it.
    ///
    /// # Errors
    /// Any error reported by the system about the folder in which `path` is.
    pub fn create_beside(path: &Path) -> Result<Self, FileError> {
        let above = path.parent().filter(|above| !above.as_os_str().is_empty());
        let above = above.unwrap_or(Path::new("."));
        let folder = tempfile::Builder::new()
            .prefix(".countersign-")
            .tempdir_in(above);
        folder.at(above).map(Self)
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Keeps the folder, whose path is returned.
    pub fn keep(self) -> PathBuf {
        self.0.keep()
    }
}
