//! One open folder, and operations on the names in it. The lowest layer: it never follows a link, not even one that
//! stays below the folder, as `cap-std` does.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;

use crate::fs::workspace::PathKind;

mod attributes;
mod clone;
mod details;
#[cfg(not(unix))]
mod fallback;
#[cfg(unix)]
mod unix;
#[cfg(target_os = "linux")]
mod xattr;

pub(crate) use crate::fs::dir::attributes::{FileAttributes, is_restorable_xattr};
pub(crate) use crate::fs::dir::details::{ChangeStamp, FileDetails};
#[cfg(not(unix))]
pub(crate) use crate::fs::dir::fallback::Dir;
#[cfg(unix)]
pub(crate) use crate::fs::dir::unix::Dir;

/// Whether links can be created on this system, which takes a right of its own on some.
pub(crate) const CAN_CREATE_LINKS: bool = cfg!(unix);
/// Whether pipes and sockets can be created on this system by their names.
pub(crate) const CAN_CREATE_PIPES: bool = cfg!(target_os = "linux");
/// Whether a whole file system can be synced to disk in one call.
pub(crate) const CAN_SYNC_FILE_SYSTEM: bool = cfg!(target_os = "linux");
/// Whether the time of a folder can be set on this system.
pub(crate) const CAN_SET_FOLDER_TIMES: bool = cfg!(unix);

/// File details of one name, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileStat {
    /// Kind of the entry.
    pub kind: PathKind,
    /// Length in bytes; 0 if it is not a regular file.
    pub bytes: u64,
    /// Permission bits with set-id and sticky.
    pub mode: u32,
    /// Nanoseconds since the epoch.
    pub mtime_ns: i64,
}

/// Splits a path below an open folder into its folder and its last name; `None` for the folder itself.
pub(crate) fn split_parent(rel: &Path) -> Option<(&Path, &OsStr)> {
    Some((rel.parent()?, rel.file_name()?))
}

impl Dir {
    /// Returns the file details at a path of several names below this folder; `None` if there is no entry.
    pub(crate) fn stat_at(&self, rel: &Path) -> io::Result<Option<FileStat>> {
        let Some((parent, name)) = split_parent(rel) else {
            return self.stat_self().map(Some);
        };
        match self.open_folder(parent) {
            Ok(folder) => folder.stat(name),
            Err(error) if is_not_found(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the attributes of the entry at a path; the defaults if there is none, and for links.
    pub(crate) fn attributes_at(&self, rel: &Path) -> FileAttributes {
        self.open_file(rel).map_or_else(
            |_| FileAttributes::default(),
            |file| FileAttributes::from_file(&file),
        )
    }

    /// Removes a name with everything below it.
    pub(crate) fn remove_tree(&self, name: &OsStr) -> io::Result<()> {
        match self.stat(name)? {
            None => Ok(()),
            Some(stat) if stat.kind == PathKind::Folder => {
                let folder = self.open_folder(Path::new(name))?;
                for inner in folder.list_names()? {
                    folder.remove_tree(&inner)?;
                }
                self.remove_folder(name)
            }
            Some(_) => self.remove_file(name),
        }
    }
}

/// Whether an error means that there is no entry at the path: the name is missing, or a part above it is no folder.
pub(crate) fn is_not_found(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Returns the kind of an open file. The file is opened without waiting: a pipe without a writer must not block.
pub(crate) fn open_file_kind(file: &File) -> io::Result<PathKind> {
    let kind = file.metadata()?.file_type();
    Ok(if kind.is_file() {
        PathKind::File
    } else if kind.is_dir() {
        PathKind::Folder
    } else {
        PathKind::Special
    })
}

/// Creates a pipe by the program that every such system has.
#[cfg(all(test, unix))]
pub(crate) fn make_pipe(at: &Path) {
    let made = std::process::Command::new("mkfifo").arg(at).status();
    assert!(made.is_ok_and(|made| made.success()), "{}", at.display());
}
