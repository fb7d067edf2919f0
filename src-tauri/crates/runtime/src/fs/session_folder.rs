//! The per-session folder for output that is too long for a result (`S002-70`).

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use protocol::text::redact;
use protocol::{CallId, Digest, SessionId};

use crate::fs::at_path::AtPath as _;
use crate::fs::atomic::{ignore_not_found, replace_private_file};
use crate::fs::dir::Dir;
use crate::fs::workspace::read_range;
use crate::{FileBytes, FileError, FileLock, create_private_folder, try_lock_file};

/// Lock file held by the process that works in a session, where a folder cannot be locked.
const SESSION_LOCK_NAME: &str = "at-work.lock";

/// The folder of one session, for the owner alone.
#[derive(Debug)]
pub struct SessionFolder {
    path: PathBuf,
}

impl SessionFolder {
    /// Opens or creates the folder of a session below the data folder: `sessions/<session>`.
    ///
    /// # Errors
    /// Any error reported by the system.
    pub fn open(data_dir: &Path, session: &SessionId) -> Result<Self, FileError> {
        let path = folder_path(data_dir, session);
        create_private_folder(&path)?;
        Ok(Self {
            path: fs::canonicalize(&path).at(path)?,
        })
    }

    /// Locks the session for the process that works in it, until the lock is dropped or the process ends; `None` while
    /// another process holds it.
    ///
    /// # Errors
    /// Any error reported by the system.
    pub fn try_lock(&self) -> Result<Option<FileLock>, FileError> {
        try_lock_session(&self.path)
    }

    /// Removes the folder of a session with everything in it, if there is one.
    ///
    /// # Errors
    /// Any error reported by the system.
    pub fn remove(data_dir: &Path, session: &SessionId) -> Result<(), FileError> {
        let path = folder_path(data_dir, session);
        ignore_not_found(fs::remove_dir_all(&path)).at(path)
    }

    /// Removes the folder if it is empty.
    pub fn remove_if_empty(&self) {
        let _holds_something = fs::remove_dir(&self.path);
    }

    /// Returns the path of the folder: real and absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a call's whole output, with its secrets masked whatever the caller did; returns the absolute path that
    /// `read` takes (`S002-69`). A later output of the same call replaces an earlier one.
    ///
    /// # Errors
    /// Any error reported by the system; nothing is left behind then.
    pub fn save_output(&self, call: &CallId, bytes: &[u8]) -> Result<PathBuf, FileError> {
        let (path, mut file) = self.create_output_file(call)?;
        let (masked, _) = redact::mask_bytes(bytes);
        let written = file.write_all(&masked);
        drop(file);
        if written.is_err() {
            let _ = fs::remove_file(&path);
        }
        written.at(&path)?;
        Ok(path)
    }

    /// Reads at most `bytes_max` bytes of an output from `from` on, made readable first if it was packed. Of `path` only the
    /// name counts: the data folder may have been moved since.
    ///
    /// # Errors
    /// The output was removed, or never was in this folder; or any error reported by the system.
    pub fn read_output(
        &self,
        path: &Path,
        from: u64,
        bytes_max: u64,
    ) -> Result<FileBytes, FileError> {
        let name = Path::new(path.file_name().unwrap_or_default());
        let path = self.path.join(name);
        self.restore_output(&path)?;
        Dir::open(&self.path)
            .and_then(|folder| folder.open_file(name))
            .and_then(|file| read_range(file, from, bytes_max))
            .at(&path)
    }

    /// Creates an empty file for a call's output.
    pub(crate) fn create_output_file(&self, call: &CallId) -> Result<(PathBuf, File), FileError> {
        let path = self
            .path
            .join(format!("{}.txt", file_name_for_id(call.as_str())));
        let file = replace_private_file(&path).at(&path)?;
        Ok((path, file))
    }

    /// Removes everything in the folder (`S002-71`).
    ///
    /// # Errors
    /// Any error reported by the system.
    pub fn clear(&self) -> Result<(), FileError> {
        ignore_not_found(fs::remove_dir_all(&self.path)).at(&self.path)?;
        create_private_folder(&self.path)
    }
}

fn folder_path(data_dir: &Path, session: &SessionId) -> PathBuf {
    data_dir
        .join("sessions")
        .join(file_name_for_id(session.as_str()))
}

/// Locks the session of this folder; `None` while another process works in it.
pub(crate) fn try_lock_session(folder: &Path) -> Result<Option<FileLock>, FileError> {
    let file = || try_lock_file(&folder.join(SESSION_LOCK_NAME));
    // A file would have to be made, at ten times the cost. Windows locks no folders, and some network disks nothing that is
    // not open for writing.
    match cfg!(unix) {
        true => try_lock_file(folder).or_else(|_| file()),
        false => file(),
    }
}

/// Returns a file name for an id. Call ids come from model providers and can hold anything: an id that is not plain
/// becomes a digest.
pub(crate) fn file_name_for_id(id: &str) -> String {
    let plain = id
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    // Names that differ only in case are one file on some systems, names of devices are taken on others.
    if plain && !id.is_empty() && id.len() <= 64 && id.contains('_') {
        id.to_owned()
    } else {
        Digest::from_bytes(id.as_bytes()).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_read_where_the_data_folder_was_moved() {
        let home = tempfile::tempdir().unwrap();
        let id = "ses_1".into();
        let before = SessionFolder::open(&home.path().join("before"), &id).unwrap();
        let path = before.save_output(&"call_1".into(), b"one two").unwrap();
        fs::rename(home.path().join("before"), home.path().join("after")).unwrap();
        let after = SessionFolder::open(&home.path().join("after"), &id).unwrap();
        let read = after.read_output(&path, 4, 2).unwrap();
        assert_eq!((read.bytes.as_slice(), read.total), (&b"tw"[..], 7));
        for other in ["missing_1.txt", "..", ""] {
            let other = after.read_output(Path::new(other), 0, 9);
            assert!(other.is_err(), "{other:?}");
        }
    }

    #[test]
    fn one_holds_it_at_a_time() {
        let home = tempfile::tempdir().unwrap();
        let open = || SessionFolder::open(home.path(), &"ses_1".into()).unwrap();
        let (one, other) = (open(), open());
        let held = one.try_lock().unwrap();
        assert!(held.is_some() && other.try_lock().unwrap().is_none());
        drop(held);
        assert!(other.try_lock().unwrap().is_some());
    }

    #[test]
    fn output_is_kept_per_call_until_the_session_closes() {
        let home = tempfile::tempdir().unwrap();
        let folder = SessionFolder::open(home.path(), &"ses_1".into()).unwrap();
        let ids = ["call_1", "../../x", "", "a/b", "CON", "ü"];
        let mut paths = Vec::new();
        for id in ids {
            let path = folder.save_output(&id.into(), id.as_bytes()).unwrap();
            assert_eq!(path.parent(), Some(folder.path()), "S002-70: {id}");
            paths.push(path);
        }
        for (id, path) in ids.iter().zip(&paths) {
            assert_eq!(fs::read_to_string(path).unwrap(), *id);
        }
        let secret = folder
            .save_output(&"call_2".into(), b"id AKIAIOSFODNN7EXAMPLE.")
            .unwrap();
        assert_eq!(fs::read(secret).unwrap(), b"id ***.");
        assert_eq!(
            folder.save_output(&"call_1".into(), b"again").unwrap(),
            paths[0]
        );
        assert_eq!(fs::read(&paths[0]).unwrap(), b"again");
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
            assert_eq!((mode(folder.path()), mode(&paths[0])), (0o700, 0o600));
        }
        folder.clear().unwrap();
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 0, "S002-71");
        assert_eq!(
            folder.save_output(&"call_1".into(), b"new").unwrap(),
            paths[0]
        );
    }
}
