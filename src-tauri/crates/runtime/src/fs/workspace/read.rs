//! Reading of a file: a part of it, or the whole, within limits.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::time::UNIX_EPOCH;

use crate::FileError;
use crate::fs::at_path::AtPath as _;
use crate::fs::dir;
use crate::fs::workspace::{FileBytes, PathKind, PathUse, Workspace};

impl Workspace {
    /// Reads at most `bytes_max` bytes of a file from `from` on; empty beyond its end.
    ///
    /// # Errors
    /// Every kind of [`FileError`] but `TooLarge`.
    pub fn read(&self, path: &str, from: u64, bytes_max: u64) -> Result<FileBytes, FileError> {
        read_range(self.open_file(path)?, from, bytes_max).at(path)
    }

    /// Reads a whole file; `None` if there is none.
    ///
    /// # Errors
    /// [`FileError::TooLarge`] beyond `bytes_max`; otherwise as [`Workspace::read`].
    pub fn read_whole(&self, path: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, FileError> {
        let piece = match self.read(path, 0, bytes_max.saturating_add(1)) {
            Err(FileError::NotFound { .. }) => return Ok(None),
            other => other?,
        };
        let found = piece.total.max(piece.bytes.len() as u64);
        if found > bytes_max {
            return Err(FileError::TooLarge {
                path: path.to_owned(),
                bytes: found,
                bytes_max,
            });
        }
        Ok(Some(piece.bytes))
    }

    /// Lists the names in a folder, sorted; empty if there is no such folder. Names that are not UTF-8 are left out.
    ///
    /// # Errors
    /// [`FileError::TooMany`] beyond `items_max`; otherwise as [`Workspace::read`].
    pub fn list_names(&self, path: &str, items_max: usize) -> Result<Vec<String>, FileError> {
        let names =
            self.open_resolved(path, |place| match place.root.dir.open_folder(&place.rel) {
                Ok(folder) => folder.list_names(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
                Err(error) => Err(error),
            })?;
        if names.len() > items_max {
            return Err(FileError::TooMany {
                path: path.to_owned(),
                items_max,
            });
        }
        let mut names: Vec<String> = names
            .into_iter()
            .filter_map(|name| name.into_string().ok())
            .collect();
        names.sort();
        Ok(names)
    }

    /// Opens a regular file for reading. Never blocks: a pipe without a writer is refused like any other special file.
    pub(crate) fn open_file(&self, path: &str) -> Result<File, FileError> {
        let file = self
            .open_resolved(path, |place| place.root.dir.open_file(&place.rel))
            .map_err(|error| self.special_file_error(path, error))?;
        let kind = dir::open_file_kind(&file).at(path)?;
        let path = path.to_owned();
        match kind {
            PathKind::File => Ok(file),
            PathKind::Folder => Err(FileError::IsFolder { path }),
            PathKind::Link | PathKind::Special => Err(FileError::Special { path }),
        }
    }

    /// Replaces the error for a socket, which cannot be opened at all: the system's message for it ("no such device")
    /// does not help.
    fn special_file_error(&self, path: &str, error: FileError) -> FileError {
        if !matches!(error, FileError::Other { .. }) {
            return error;
        }
        let stat = self
            .resolve_readable(path, true, PathUse::Read)
            .map(|place| place.root.dir.stat_at(&place.rel));
        match stat {
            Ok(Ok(Some(stat))) if stat.kind == PathKind::Special => FileError::Special {
                path: path.to_owned(),
            },
            _ => error,
        }
    }
}

/// Reads at most `bytes_max` bytes of an open file from `from` on.
pub(crate) fn read_range(mut file: File, from: u64, bytes_max: u64) -> io::Result<FileBytes> {
    let meta = file.metadata()?;
    if from > 0 {
        file.seek(SeekFrom::Start(from))?;
    }
    let mut bytes = Vec::new();
    file.take(bytes_max).read_to_end(&mut bytes)?;
    let since = meta
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok(FileBytes {
        bytes,
        total: meta.len(),
        mtime_ns: since.map_or(0, |since| {
            i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
        }),
    })
}
