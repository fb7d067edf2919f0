//! Settings-like files: read whole, replaced in one step.

use std::path::Path;

use crate::FileError;

/// The text at `path`; none if there is no such file.
///
/// # Errors
/// No permission, a folder, longer than 4 MiB, or not UTF-8.
pub fn read_text(path: &Path) -> Result<Option<String>, FileError> {
    Err(not_yet(path))
}

/// Replaces `path` by `bytes` in one step: written beside it, synced, renamed. Readers see the old or the new content,
/// also after a crash. The file gets `mode` (Unix). Missing folders are created for the owner alone.
///
/// # Errors
/// What the system says of the folder or the disk.
pub fn write_atomic(path: &Path, bytes: &[u8], mode: u32) -> Result<(), FileError> {
    let _ = (bytes, mode);
    Err(not_yet(path))
}

/// Makes `path` and what is missing above it, for the owner alone (0700).
///
/// # Errors
/// What the system says.
pub fn private_folder(path: &Path) -> Result<(), FileError> {
    Err(not_yet(path))
}

fn not_yet(path: &Path) -> FileError {
    FileError::other(path.display().to_string(), "not built yet")
}
