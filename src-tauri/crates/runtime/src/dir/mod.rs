//! One open folder, and what can be done to the names in it. The lowest layer: it follows no link, ever.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;

use crate::files::PathKind;

mod clone;
mod details;
#[cfg(not(unix))]
mod fallback;
#[cfg(target_os = "linux")]
mod layer;
mod traits;
#[cfg(unix)]
mod unix;

pub(crate) use details::{Details, Mark};
#[cfg(not(unix))]
pub(crate) use fallback::Dir;
pub(crate) use traits::{Traits, is_of_programs};
#[cfg(unix)]
pub(crate) use unix::Dir;

/// Whether links can be made here, which takes a right of its own on some systems.
pub(crate) const MAKES_LINKS: bool = cfg!(unix);
/// Whether pipes and sockets can be made here by their names.
pub(crate) const MAKES_PIPES: bool = cfg!(target_os = "linux");
/// Whether everything of a file system can be put on disk in one go.
pub(crate) const SYNCS_EVERYTHING: bool = cfg!(target_os = "linux");
/// Whether the time of a folder can be set here.
pub(crate) const SETS_FOLDER_TIMES: bool = cfg!(unix);

/// What the system says of one name, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    /// What it is.
    pub kind: PathKind,
    /// Length in bytes; 0 for what is not a regular file.
    pub bytes: u64,
    /// Permission bits with set-id and sticky.
    pub mode: u32,
    /// Nanoseconds since the epoch.
    pub mtime_ns: i64,
}

/// A path below an open folder split into its folder and its last name; none for the folder itself.
pub(crate) fn split(rel: &Path) -> Option<(&Path, &OsStr)> {
    Some((rel.parent()?, rel.file_name()?))
}

impl Dir {
    /// What stands at a path of several names below this folder; none if nothing does.
    pub(crate) fn stat_at(&self, rel: &Path) -> io::Result<Option<Stat>> {
        let Some((parent, name)) = split(rel) else {
            return self.stat_self().map(Some);
        };
        match self.folder(parent) {
            Ok(folder) => folder.stat(name),
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What stands beside the content of what is there; nothing for what is not there, and for links.
    pub(crate) fn traits_at(&self, rel: &Path) -> Traits {
        self.file(rel)
            .map_or_else(|_| Traits::default(), |file| Traits::of(&file))
    }

    /// Removes a name with all that is below it.
    pub(crate) fn remove_tree(&self, name: &OsStr) -> io::Result<()> {
        match self.stat(name)? {
            None => Ok(()),
            Some(stat) if stat.kind == PathKind::Folder => {
                let folder = self.folder(Path::new(name))?;
                for inner in folder.names()? {
                    folder.remove_tree(&inner)?;
                }
                self.remove_folder(name)
            }
            Some(_) => self.remove_file(name),
        }
    }
}

/// Whether an error says that nothing stands at the path: the name is missing, or a part above it is no folder.
pub(crate) fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Opens a file for reading without waiting: a pipe without a writer must not hold us up.
pub(crate) fn kind_of_open(file: &File) -> io::Result<PathKind> {
    let kind = file.metadata()?.file_type();
    Ok(if kind.is_file() {
        PathKind::File
    } else if kind.is_dir() {
        PathKind::Folder
    } else {
        PathKind::Special
    })
}

/// Makes a pipe by the program that every such system has.
#[cfg(all(test, unix))]
pub(crate) fn make_pipe(at: &Path) {
    let made = std::process::Command::new("mkfifo").arg(at).status();
    assert!(made.is_ok_and(|made| made.success()), "{}", at.display());
}
