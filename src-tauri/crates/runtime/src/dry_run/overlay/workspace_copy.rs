//! A copy of the whole workspace for one command, where no layer can lie over it: within limits, by reference where the
//! disk can, and with a mark for every entry by which it is recognized as untouched.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::FileError;
use crate::fs::at_path::AtPath as _;
use crate::fs::dir::{
    CAN_CREATE_LINKS, CAN_CREATE_PIPES, ChangeStamp, Dir, FileDetails, open_file_kind,
};
use crate::fs::workspace::{PathKind, display_path};
use crate::limits::{COPY_BYTES_MAX, COPY_PATHS_MAX, TREE_DEPTH_MAX};

/// A copy, and the state of each entry in it at the time of copying.
#[derive(Debug, Default)]
pub(in crate::dry_run) struct WorkspaceCopy {
    /// `None` for an entry for which the system reports nothing by which it can be recognized.
    marks: BTreeMap<PathBuf, Option<ChangeStamp>>,
    /// Bytes that were written for the copy.
    pub bytes: u64,
    /// Space that the copied entries take on disk, in bytes.
    pub disk_bytes: u64,
}

/// The side of a copy whose entries are marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dry_run) enum MarkedSide {
    /// The copy, in which a command runs.
    Copy,
    /// The original, in which a command runs while the copy stays as it is.
    Original,
}

/// The method by which a copy is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyMethod {
    /// Every method that this system has.
    System,
    /// Only the methods that every system has: no references, and no marks. For testing where the others exist.
    #[cfg(test)]
    Plain,
}

impl WorkspaceCopy {
    /// Whether an entry was copied to this path.
    pub(in crate::dry_run) fn contains(&self, path: &Path) -> bool {
        self.marks.contains_key(path)
    }

    /// Whether the entry at this path on the marked side is the one that was copied to, or from, that path, untouched.
    /// Always `false` for a folder: its content may differ in any case.
    pub(in crate::dry_run) fn is_untouched(&self, path: &Path, is: &FileDetails) -> bool {
        let then = self.marks.get(path).copied().flatten();
        is.stat.kind != PathKind::Folder && then.is_some() && then == is.change_stamp
    }
}

/// Checks whether a workspace can be copied at all, by its size and its content.
///
/// # Errors
/// [`FileError::SandboxUnavailable`] with the reason why not.
pub(in crate::dry_run) fn measure_workspace(workspace: &Dir) -> Result<(), FileError> {
    CopyJob::new(workspace, MarkedSide::Copy, CopyMethod::System)?.copy_folder(
        workspace,
        None,
        Path::new(""),
        0,
    )
}

/// Copies a workspace into an empty folder, and remembers the state of each entry on one of both sides.
///
/// # Errors
/// [`FileError::SandboxUnavailable`] when the workspace is too large or holds entries that cannot be copied; otherwise
/// any error reported by the system.
pub(in crate::dry_run) fn copy_workspace(
    workspace: &Dir,
    to: &Path,
    marked: MarkedSide,
    copier: CopyMethod,
) -> Result<WorkspaceCopy, FileError> {
    let mut copying = CopyJob::new(workspace, marked, copier)?;
    let to = Dir::open(to).at("the folder for sandboxes")?;
    copying.copy_folder(workspace, Some(&to), Path::new(""), 0)?;
    Ok(copying.copied)
}

struct CopyJob {
    copied: WorkspaceCopy,
    paths: usize,
    device: u64,
    marked: MarkedSide,
    copier: CopyMethod,
    /// Whether the disk has made a reference for every file so far for which it was asked.
    clones: bool,
}

/// An entry of the workspace that is copied: the folder that holds it, its name, its path and its file details.
#[derive(Clone, Copy)]
pub(in crate::dry_run) struct SourceEntry<'a> {
    pub folder: &'a Dir,
    pub name: &'a OsStr,
    pub path: &'a Path,
    pub details: &'a FileDetails,
}

/// Copies a file with its attributes: by reference if `clones`, which is left as what the disk could do. Returns the
/// bytes that were written, at most `bytes_max`.
pub(in crate::dry_run) fn copy_file(
    entry: SourceEntry<'_>,
    to: &Dir,
    clones: &mut bool,
    bytes_max: u64,
) -> Result<u64, FileError> {
    let SourceEntry {
        folder: from,
        name,
        path,
        details,
    } = entry;
    let source = from.open_file(Path::new(name)).at(path)?;
    if open_file_kind(&source).at(path)? != PathKind::File {
        return Err(FileError::Changed {
            path: display_path(path),
        });
    }
    let (mut made, has_content) = to
        .create_copy_target(name, from, &source, *clones)
        .at(path)?;
    *clones = has_content;
    let written = match has_content {
        true => 0,
        false => io::copy(&mut io::Read::take(source, bytes_max), &mut made).at(path)?,
    };
    from.attributes_at(Path::new(name))
        .apply_to(&made, details.stat.mode);
    Ok(written)
}

/// Copies a link as a link, wherever it leads.
pub(in crate::dry_run) fn copy_link(from: &Dir, name: &OsStr, to: &Dir) -> io::Result<()> {
    to.create_link(name, &from.read_link(name)?)
}

/// Gives the copy of an entry the mode and the time of the original.
pub(in crate::dry_run) fn copy_mode_and_time(
    to: &Dir,
    name: &OsStr,
    details: &FileDetails,
) -> io::Result<()> {
    if details.stat.kind != PathKind::Link {
        to.set_mode_of(name, details.stat.mode)?;
    }
    to.set_mtime_of(name, details.stat.mtime_ns)
}

impl CopyJob {
    fn new(workspace: &Dir, marked: MarkedSide, copier: CopyMethod) -> Result<Self, FileError> {
        let found = workspace
            .read_details(OsStr::new("."))
            .at("the workspace")?;
        Ok(Self {
            copied: WorkspaceCopy::default(),
            paths: 0,
            device: found.map_or(0, |found| found.device),
            marked,
            copier,
            clones: copier == CopyMethod::System,
        })
    }

    /// Copies a folder of the workspace to `to`, or only measures it if `to` is `None`.
    fn copy_folder(
        &mut self,
        from: &Dir,
        to: Option<&Dir>,
        at: &Path,
        depth: usize,
    ) -> Result<(), FileError> {
        if depth > TREE_DEPTH_MAX {
            return Err(not_copied_error(&format!(
                "its folders are deeper than {TREE_DEPTH_MAX} levels"
            )));
        }
        for name in from.list_names().at(at)? {
            let path = at.join(&name);
            let Some(found) = from.read_details(&name).at(&path)? else {
                continue;
            };
            self.check_limits(&path, &found)?;
            let below = match found.stat.kind {
                PathKind::Folder => Some(from.open_folder(Path::new(&name)).at(&path)?),
                PathKind::File | PathKind::Link | PathKind::Special => None,
            };
            match (to, below) {
                (None, below) => {
                    self.add_bytes(found.stat.bytes)?;
                    if let Some(below) = below {
                        self.copy_folder(&below, None, &path, depth + 1)?;
                    }
                }
                (Some(to), Some(below)) => {
                    to.create_folder(&name, 0o700).at(&path)?;
                    let made = to.open_folder(Path::new(&name)).at(&path)?;
                    self.copy_folder(&below, Some(&made), &path, depth + 1)?;
                    let made = to.open_file(Path::new(&name)).at(&path)?;
                    let beside = from.attributes_at(Path::new(&name));
                    beside.apply_to(&made, found.stat.mode);
                    self.stamp_copy(to, &name, path, &found)?;
                }
                (Some(to), None) => {
                    let entry = SourceEntry {
                        folder: from,
                        name: &name,
                        path: &path,
                        details: &found,
                    };
                    self.copy_item(entry, to)?;
                    self.stamp_copy(to, &name, path, &found)?;
                }
            }
        }
        Ok(())
    }

    /// Refuses entries that no copy could stand for, and those beyond the limits.
    fn check_limits(&mut self, path: &Path, details: &FileDetails) -> Result<(), FileError> {
        self.paths += 1;
        self.copied.disk_bytes = self.copied.disk_bytes.saturating_add(details.disk_bytes);
        if self.paths > COPY_PATHS_MAX {
            return Err(not_copied_error(&format!(
                "it has more than {COPY_PATHS_MAX} paths"
            )));
        }
        let path = display_path(path);
        if details.device != self.device {
            return Err(not_copied_error(&format!(
                "another disk is mounted at `{path}`"
            )));
        }
        let cannot = match details.stat.kind {
            _ if details.is_device => "a device",
            PathKind::Special if !CAN_CREATE_PIPES => "a pipe or a socket",
            PathKind::Link if !CAN_CREATE_LINKS => "a link",
            PathKind::File | PathKind::Folder | PathKind::Link | PathKind::Special => return Ok(()),
        };
        Err(not_copied_error(&format!("`{path}` is {cannot}")))
    }

    fn add_bytes(&mut self, bytes: u64) -> Result<(), FileError> {
        self.copied.bytes = self.copied.bytes.saturating_add(bytes);
        match self.copied.bytes > COPY_BYTES_MAX {
            true => Err(not_copied_error(&format!(
                "it is larger than {} MiB",
                COPY_BYTES_MAX >> 20
            ))),
            false => Ok(()),
        }
    }

    /// Copies an entry that is not a folder.
    fn copy_item(&mut self, entry: SourceEntry<'_>, to: &Dir) -> Result<(), FileError> {
        let SourceEntry {
            folder: from,
            name,
            path,
            details: found,
        } = entry;
        match found.stat.kind {
            PathKind::Link => copy_link(from, name, to).at(path),
            PathKind::Special => to.create_special_like(name, from).at(path),
            PathKind::File | PathKind::Folder => {
                // One byte more than is left tells that there was more.
                let bytes_max = COPY_BYTES_MAX.saturating_sub(self.copied.bytes) + 1;
                let written = copy_file(entry, to, &mut self.clones, bytes_max)?;
                self.add_bytes(written)
            }
        }
    }

    /// Gives the copy of an entry the mode and the time of the original, and remembers its state then.
    fn stamp_copy(
        &mut self,
        to: &Dir,
        name: &OsStr,
        path: PathBuf,
        details: &FileDetails,
    ) -> Result<(), FileError> {
        copy_mode_and_time(to, name, details).at(&path)?;
        let marked = match self.marked {
            MarkedSide::Copy => to.read_details(name).at(&path)?,
            MarkedSide::Original => Some(*details),
        };
        if let Some(marked) = marked {
            let mark = marked
                .change_stamp
                .filter(|_| self.copier == CopyMethod::System);
            self.copied.marks.insert(path, mark);
        }
        Ok(())
    }
}

fn not_copied_error(why: &str) -> FileError {
    FileError::sandbox_unavailable(format!(
        "The workspace cannot be copied for a command: {why}."
    ))
}
