//! The path that an operation of the system was about, added to its error.

use std::io;
use std::path::Path;

use crate::FileError;
use crate::fs::workspace::display_path;

/// Adds a path to the errors of the system.
pub(crate) trait AtPath<T> {
    /// Converts the system's error about `path`: a path, or words for what it would be.
    fn at(self, path: impl AsRef<Path>) -> Result<T, FileError>;
}

impl<T> AtPath<T> for io::Result<T> {
    fn at(self, path: impl AsRef<Path>) -> Result<T, FileError> {
        self.map_err(|error| FileError::from_io(display_path(path.as_ref()), &error))
    }
}
