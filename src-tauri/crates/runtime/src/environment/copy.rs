//! The whole workspace copied for one command, where no layer can lie over it: within bounds, by reference where the disk
//! can, and with a mark on every thing by which it is known again.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::FileError;
use crate::dir::{Details, Dir, MAKES_LINKS, MAKES_PIPES, Mark, kind_of_open};
use crate::files::{PathKind, shown};
use crate::limits::{COPY_BYTES_MAX, COPY_PATHS_MAX, TREE_DEPTH_MAX};

/// A copy, and how each thing in it was when it was made.
#[derive(Debug, Default)]
pub(super) struct Copied {
    /// None where nothing was told by which it is known again.
    marks: BTreeMap<PathBuf, Option<Mark>>,
    /// How much was written for it.
    pub bytes: u64,
    /// What all that was copied takes on the disk.
    pub disk_bytes: u64,
}

/// Of which side of a copy it is kept in mind how a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Marked {
    /// Of the copy, in which a command runs.
    Copy,
    /// Of what is copied, in which a command runs while the copy stays as it is.
    Original,
}

/// What a copy is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copier {
    /// All that this system has.
    System,
    /// What every system has: no references, and nothing by which a thing is known again. It is there to be tried where the
    /// others are.
    #[cfg(test)]
    Plain,
}

impl Copied {
    /// Whether something was copied to this path.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.marks.contains_key(path)
    }

    /// Whether what stands at this path on the marked side is what was copied there, or from there, untouched. Of a folder that is never said: what
    /// is in it may be another in any case.
    pub(super) fn is_untouched(&self, path: &Path, is: &Details) -> bool {
        let then = self.marks.get(path).copied().flatten();
        is.stat.kind != PathKind::Folder && then.is_some() && then == is.mark
    }
}

/// Whether a workspace can be copied at all: how much it is, and what is in it.
///
/// # Errors
/// [`FileError::NoRoom`] with the reason why not.
pub(super) fn weigh(workspace: &Dir) -> Result<(), FileError> {
    Copying::of(workspace, Marked::Copy, Copier::System)?.folder(workspace, None, Path::new(""), 0)
}

/// Copies a workspace into an empty folder, and keeps in mind how each thing is on one of both sides.
///
/// # Errors
/// [`FileError::NoRoom`] when it is too large or holds what cannot be copied; else what the system said.
pub(super) fn copy(
    workspace: &Dir,
    to: &Path,
    marked: Marked,
    copier: Copier,
) -> Result<Copied, FileError> {
    let mut copying = Copying::of(workspace, marked, copier)?;
    let to = Dir::open(to).map_err(|error| FileError::from_io("the folder for rooms", &error))?;
    copying.folder(workspace, Some(&to), Path::new(""), 0)?;
    Ok(copying.copied)
}

struct Copying {
    copied: Copied,
    paths: usize,
    device: u64,
    marked: Marked,
    copier: Copier,
    /// Whether the disk has given a reference to every file so far that it was asked for.
    clones: bool,
}

impl Copying {
    fn of(workspace: &Dir, marked: Marked, copier: Copier) -> Result<Self, FileError> {
        let found = workspace.details(OsStr::new("."));
        let found = found.map_err(|error| FileError::from_io("the workspace", &error))?;
        Ok(Self {
            copied: Copied::default(),
            paths: 0,
            device: found.map_or(0, |found| found.device),
            marked,
            copier,
            clones: copier == Copier::System,
        })
    }

    /// A folder of the workspace. `to` is where it is copied, none where it is only weighed.
    fn folder(
        &mut self,
        from: &Dir,
        to: Option<&Dir>,
        at: &Path,
        depth: usize,
    ) -> Result<(), FileError> {
        let failed = |error: io::Error| FileError::from_io(shown(at), &error);
        if depth > TREE_DEPTH_MAX {
            return Err(not_copied(&format!(
                "its folders are deeper than {TREE_DEPTH_MAX} levels"
            )));
        }
        for name in from.names().map_err(failed)? {
            let path = at.join(&name);
            let failed = |error: io::Error| FileError::from_io(shown(&path), &error);
            let Some(found) = from.details(&name).map_err(failed)? else {
                continue;
            };
            self.admit(&path, &found)?;
            let below = match found.stat.kind {
                PathKind::Folder => Some(from.folder(Path::new(&name)).map_err(failed)?),
                PathKind::File | PathKind::Link | PathKind::Special => None,
            };
            match (to, below) {
                (None, below) => {
                    self.count(found.stat.bytes)?;
                    if let Some(below) = below {
                        self.folder(&below, None, &path, depth + 1)?;
                    }
                }
                (Some(to), Some(below)) => {
                    to.create_folder(&name, 0o700).map_err(failed)?;
                    let made = to.folder(Path::new(&name)).map_err(failed)?;
                    self.folder(&below, Some(&made), &path, depth + 1)?;
                    let made = to.file(Path::new(&name)).map_err(failed)?;
                    let beside = from.traits_at(Path::new(&name));
                    beside.give(&made, found.stat.mode);
                    self.mark(to, &name, path, &found)?;
                }
                (Some(to), None) => {
                    self.one(from, to, &name, &path, &found)?;
                    self.mark(to, &name, path, &found)?;
                }
            }
        }
        Ok(())
    }

    /// Refuses what no copy could stand for, and more of it than is bearable.
    fn admit(&mut self, path: &Path, found: &Details) -> Result<(), FileError> {
        self.paths += 1;
        self.copied.disk_bytes = self.copied.disk_bytes.saturating_add(found.disk_bytes);
        if self.paths > COPY_PATHS_MAX {
            return Err(not_copied(&format!(
                "it has more than {COPY_PATHS_MAX} paths"
            )));
        }
        let path = shown(path);
        if found.device != self.device {
            return Err(not_copied(&format!("another disk is mounted at `{path}`")));
        }
        let cannot = match found.stat.kind {
            _ if found.is_device => "a device",
            PathKind::Special if !MAKES_PIPES => "a pipe or a socket",
            PathKind::Link if !MAKES_LINKS => "a link",
            PathKind::File | PathKind::Folder | PathKind::Link | PathKind::Special => return Ok(()),
        };
        Err(not_copied(&format!("`{path}` is {cannot}")))
    }

    fn count(&mut self, bytes: u64) -> Result<(), FileError> {
        self.copied.bytes = self.copied.bytes.saturating_add(bytes);
        match self.copied.bytes > COPY_BYTES_MAX {
            true => Err(not_copied(&format!(
                "it is larger than {} MiB",
                COPY_BYTES_MAX >> 20
            ))),
            false => Ok(()),
        }
    }

    /// Copies a thing that is no folder.
    fn one(
        &mut self,
        from: &Dir,
        to: &Dir,
        name: &OsStr,
        path: &Path,
        found: &Details,
    ) -> Result<(), FileError> {
        let failed = |error: io::Error| FileError::from_io(shown(path), &error);
        match found.stat.kind {
            PathKind::Link => {
                let target = from.link_target(name).map_err(failed)?;
                to.create_link(name, &target).map_err(failed)
            }
            PathKind::Special => to.create_alike(name, from).map_err(failed),
            PathKind::File | PathKind::Folder => {
                let source = from.file(Path::new(name)).map_err(failed)?;
                if kind_of_open(&source).map_err(failed)? != PathKind::File {
                    return Err(FileError::Changed { path: shown(path) });
                }
                let made = to.create_for(name, from, &source, self.clones);
                let (mut made, has_content) = made.map_err(failed)?;
                self.clones = has_content;
                if !self.clones {
                    // One byte more than is left tells that there was more.
                    let left = COPY_BYTES_MAX.saturating_sub(self.copied.bytes);
                    let mut source = io::Read::take(source, left.saturating_add(1));
                    let written = io::copy(&mut source, &mut made).map_err(failed)?;
                    self.count(written)?;
                }
                from.traits_at(Path::new(name)).give(&made, found.stat.mode);
                Ok(())
            }
        }
    }

    /// Gives the copy of a thing the mode and the time of the one that it stands for, and keeps in mind how it is then.
    fn mark(
        &mut self,
        to: &Dir,
        name: &OsStr,
        path: PathBuf,
        found: &Details,
    ) -> Result<(), FileError> {
        let failed = |error: io::Error| FileError::from_io(shown(&path), &error);
        if found.stat.kind != PathKind::Link {
            to.set_mode_of(name, found.stat.mode).map_err(failed)?;
        }
        to.set_mtime_of(name, found.stat.mtime_ns).map_err(failed)?;
        let marked = match self.marked {
            Marked::Copy => to.details(name).map_err(failed)?,
            Marked::Original => Some(*found),
        };
        if let Some(marked) = marked {
            let mark = marked.mark.filter(|_| self.copier == Copier::System);
            self.copied.marks.insert(path, mark);
        }
        Ok(())
    }
}

fn not_copied(why: &str) -> FileError {
    FileError::NoRoom {
        reason: format!("The workspace cannot be copied for a command: {why}."),
    }
}
