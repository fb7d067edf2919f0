//! The changes that a command made: its layer compared with the workspace, path by path, in the terms of the kernel's
//! overlayfs; or the workspace itself compared with a snapshot from before.
//!
//! A removed name is a device with the number 0. A replaced folder is marked, and hides everything that lies below it
//! in the workspace, at every depth. Everything else in the layer stands at its own path.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use protocol::history::Node;

use crate::FileError;
use crate::dry_run::effects::attributes;
use crate::dry_run::overlay::change::{
    ABSENT, ChangedPath, HardLinkedSides, PathContent, is_unchanged,
};
use crate::dry_run::overlay::content_eq::has_same_content;
use crate::dry_run::overlay::marks::{is_xattr_whiteout, read_overlay_marks};
use crate::dry_run::overlay::read_budget::{DiffSide, ReadBudget};
use crate::dry_run::overlay::workspace_copy::WorkspaceCopy;
use crate::fs::at_path::AtPath as _;
use crate::fs::dir::{CAN_SET_FOLDER_TIMES, Dir, FileDetails, open_file_kind};
use crate::fs::workspace::{PathKind, display_path};
use crate::limits::{LAYER_PATHS_MAX, TREE_DEPTH_MAX};
use crate::undo::{ContentSink, UnlockFn};

/// The tree that is searched for the changes of a command.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(target_os = "linux"),
    allow(
        dead_code,
        reason = "there are no layers, and no copies in their place"
    )
)]
pub(in crate::dry_run) enum UpperSource<'a> {
    /// A layer of the kernel over the workspace.
    Layer,
    /// A copy of the workspace, in its place.
    Copy(&'a WorkspaceCopy),
    /// The workspace itself, over a snapshot of its state before. Entries that match their marks were not touched
    /// since.
    InPlace(&'a WorkspaceCopy),
}

/// The folder that is searched for the changes of a command, and its kind.
#[derive(Clone, Copy)]
pub(in crate::dry_run) struct UpperTree<'a> {
    pub source: UpperSource<'a>,
    pub dir: &'a Dir,
}

/// The differences that were found.
#[derive(Debug, Default)]
pub(in crate::dry_run) struct OverlayDiff {
    /// Changed paths, in order.
    pub changes: Vec<ChangedPath>,
    /// Folders of the workspace itself that stayed: their times before and after.
    pub folders: Vec<(PathBuf, i64, i64)>,
    /// Paths of which nothing but extended attributes is different.
    pub attributes: Vec<PathBuf>,
}

/// Finds every difference between `upper` and `lower`. `began_ns` is when the command began: paths of `lower` that
/// changed since are not as the command saw them. Each content that is compared goes through `content`. Entries of
/// `upper` that cannot be read are opened by `unlock`; without it `upper` belongs to the engine, and stays open.
pub(in crate::dry_run) fn diff_upper(
    upper: UpperTree<'_>,
    lower: &Dir,
    began_ns: i64,
    content: ContentSink<'_>,
    unlock: Option<UnlockFn<'_>>,
) -> Result<OverlayDiff, FileError> {
    let mut differ = OverlayDiffer {
        diff: OverlayDiff::default(),
        reading: ReadBudget::default(),
        began_ns,
        kind: upper.source,
        content,
        unlock,
    };
    let (was, is) = (
        lower.stat_self().at("the layer of the command")?,
        upper.dir.stat_self().at("the layer of the command")?,
    );
    if was.mode != is.mode {
        let folder = |stat: crate::fs::dir::FileStat| {
            PathContent::Node(Node::Folder {
                mode: stat.mode,
                mtime_ns: stat.mtime_ns,
            })
        };
        let links = HardLinkedSides::default();
        differ.add_change(Path::new(""), folder(was), folder(is), links)?;
    }
    let whole = !matches!(upper.source, UpperSource::Layer);
    let root = FolderSides {
        upper: upper.dir,
        lower: Some(lower),
    };
    differ.diff_folder(root, Path::new(""), whole, 0)?;
    Ok(differ.diff)
}

struct OverlayDiffer<'a> {
    diff: OverlayDiff,
    reading: ReadBudget,
    began_ns: i64,
    kind: UpperSource<'a>,
    content: ContentSink<'a>,
    unlock: Option<UnlockFn<'a>>,
}

impl OverlayDiffer<'_> {
    /// Compares a folder of the layer. If `hidden`, nothing that lies below the folder in the workspace shows through.
    fn diff_folder(
        &mut self,
        folder: FolderSides<'_>,
        at: &Path,
        hidden: bool,
        depth: usize,
    ) -> Result<(), FileError> {
        let FolderSides { upper, lower } = folder;
        if depth > TREE_DEPTH_MAX {
            let why = format!("it made folders deeper than {TREE_DEPTH_MAX} levels");
            return Err(self.limit_error(&why));
        }
        if let (UpperSource::InPlace(_), Some(lower), true) =
            (self.kind, lower, CAN_SET_FOLDER_TIMES)
        {
            let (was, is) = (lower.stat_self(), upper.stat_self());
            let (was, is) = (was.at(at)?, is.at(at)?);
            let times = (at.to_owned(), was.mtime_ns, is.mtime_ns);
            self.diff.folders.push(times);
        }
        let (replaced, gone_by_mark) = read_overlay_marks(self.kind, upper).at(at)?;
        let hidden = hidden || replaced;
        let mut names: BTreeSet<OsString> = upper.list_names().at(at)?.into_iter().collect();
        if hidden && let Some(lower) = lower {
            let below = lower.list_names().at(at)?;
            // A name that came to the workspace after the copy was made was not deleted from the copy.
            let was_seen = |name: &OsString| match self.kind {
                UpperSource::Copy(copied) => copied.contains(&at.join(name)),
                UpperSource::Layer | UpperSource::InPlace(_) => true,
            };
            names.extend(below.into_iter().filter(was_seen));
        }
        for name in names {
            let path = at.join(&name);
            let was = match lower {
                Some(lower) => lower
                    .read_details(&name)
                    .at(&path)?
                    .map(|details| FoundEntry {
                        folder: lower,
                        details,
                    }),
                None => None,
            };
            let is = upper.read_details(&name).at(&path)?;
            if let (Some(is), UpperSource::Copy(copied) | UpperSource::InPlace(copied)) =
                (&is, self.kind)
                && copied.is_untouched(&path, is)
            {
                continue;
            }
            if let (Some(_), None, UpperSource::Copy(copied)) = (&is, &was, self.kind)
                && copied.contains(&path)
            {
                return Err(FileError::Changed {
                    path: display_path(&path),
                });
            }
            let is_layer = matches!(self.kind, UpperSource::Layer);
            let is = match is {
                Some(is) if is.is_gone && is_layer => None,
                Some(is)
                    if gone_by_mark
                        && is.stat.kind == PathKind::File
                        && is.stat.bytes == 0
                        && is_xattr_whiteout(upper, &name).at(&path)? =>
                {
                    None
                }
                other => other,
            };
            let one = NamedEntry {
                name: &name,
                path: &path,
                depth,
            };
            match (is, was) {
                (None, None) => {}
                (None, Some(was)) => self.diff_removed(one, was, &ABSENT)?,
                (Some(details), was) => {
                    let is = FoundEntry {
                        folder: upper,
                        details,
                    };
                    self.diff_present(one, is, was, hidden)?;
                }
            }
        }
        Ok(())
    }

    /// Compares an entry that was created at a name, or still stands there.
    fn diff_present(
        &mut self,
        one: NamedEntry<'_>,
        entry: FoundEntry<'_>,
        was: Option<FoundEntry<'_>>,
        hidden: bool,
    ) -> Result<(), FileError> {
        let FoundEntry {
            folder: upper,
            details: is,
        } = entry;
        if let Some(mode) = is.stat.kind.readable_mode(is.stat.mode) {
            match self.unlock {
                Some(unlock) => unlock(one.path)?,
                // It is ours, so we may read in it what the command let nobody read.
                None => upper.set_mode_of(one.name, mode).at(one.path)?,
            }
        }
        if let (UpperSource::InPlace(_), Some(was)) = (self.kind, was)
            && is.stat == was.details.stat
            && is.stat.kind == PathKind::File
            && has_same_content(upper, was.folder, one.name).at(one.path)?
        {
            if attributes::has_different_attributes(upper, was.folder, one.name) {
                self.diff.attributes.push(one.path.to_owned());
            }
            return Ok(());
        }
        let after = self.read_content(DiffSide::After, one, entry)?;
        let is_folder = is.stat.kind == PathKind::Folder;
        let (before, below) = match was {
            None => (ABSENT, None),
            Some(was) if was.details.stat.kind == PathKind::Folder => {
                if !is_folder {
                    return self.diff_removed(one, was, &after);
                }
                let below = was.folder.open_folder(Path::new(one.name)).at(one.path)?;
                (self.read_content(DiffSide::Before, one, was)?, Some(below))
            }
            Some(was) => {
                self.check_unchanged(one.path, &was.details)?;
                (self.read_content(DiffSide::Before, one, was)?, None)
            }
        };
        let links = HardLinkedSides {
            before: was.is_some_and(|was| was.details.has_hard_links()),
            after: is.has_hard_links(),
        };
        if let Some(was) = was.filter(|_| is_unchanged(&before, &after))
            && matches!(is.stat.kind, PathKind::File | PathKind::Folder)
            && attributes::has_different_attributes(upper, was.folder, one.name)
        {
            self.diff.attributes.push(one.path.to_owned());
        }
        self.add_change(one.path, before, after, links)?;
        if !is_folder {
            return Ok(());
        }
        let upper = upper.open_folder(Path::new(one.name)).at(one.path)?;
        let folder = FolderSides {
            upper: &upper,
            lower: below.as_ref(),
        };
        self.diff_folder(folder, one.path, hidden, one.depth + 1)
    }

    /// Records the removal of an entry, with everything below it.
    fn diff_removed(
        &mut self,
        one: NamedEntry<'_>,
        was: FoundEntry<'_>,
        after: &PathContent,
    ) -> Result<(), FileError> {
        self.check_unchanged(one.path, &was.details)?;
        let before = self.read_content(DiffSide::Before, one, was)?;
        let links = HardLinkedSides {
            before: was.details.has_hard_links(),
            after: false,
        };
        self.add_change(one.path, before, after.clone(), links)?;
        if was.details.stat.kind != PathKind::Folder {
            return Ok(());
        }
        let failed = |error: io::Error| self.read_error(DiffSide::Before, one.path, &error);
        let folder = was.folder.open_folder(Path::new(one.name));
        let folder = folder.map_err(failed)?;
        for name in folder.list_names().map_err(failed)? {
            let path = one.path.join(&name);
            let found = folder.read_details(&name).at(&path)?;
            if let Some(details) = found {
                let below = NamedEntry {
                    name: &name,
                    path: &path,
                    depth: one.depth + 1,
                };
                let was = FoundEntry {
                    folder: &folder,
                    details,
                };
                self.diff_removed(below, was, &ABSENT)?;
            }
        }
        Ok(())
    }

    /// Refuses a path that is no longer as the command saw it. In a folder that stays only names were added or removed,
    /// and those are checked one by one.
    fn check_unchanged(&self, path: &Path, was: &FileDetails) -> Result<(), FileError> {
        match was.changed_ns > self.began_ns {
            true => Err(FileError::Changed {
                path: display_path(path),
            }),
            false => Ok(()),
        }
    }

    fn read_content(
        &mut self,
        side: DiffSide,
        one: NamedEntry<'_>,
        entry: FoundEntry<'_>,
    ) -> Result<PathContent, FileError> {
        let FoundEntry {
            folder: dir,
            details: entry,
        } = entry;
        let (mode, mtime_ns) = (entry.stat.mode, entry.stat.mtime_ns);
        Ok(PathContent::Node(match entry.stat.kind {
            PathKind::Special => return Ok(PathContent::Special(mode)),
            PathKind::Folder => Node::Folder { mode, mtime_ns },
            PathKind::Link => Node::Link {
                target: dir.read_link(one.name).at(one.path)?,
                mtime_ns,
            },
            PathKind::File => {
                let admitted = self.reading.count_file(side, &entry.stat);
                admitted.map_err(|why| self.limit_error(&why))?;
                let opened = dir.open_file(Path::new(one.name));
                let mut file = opened.map_err(|error| self.read_error(side, one.path, &error))?;
                if open_file_kind(&file).at(one.path)? != PathKind::File {
                    let path = display_path(one.path);
                    return Err(FileError::Changed { path });
                }
                let (blob, bytes) = (self.content)(&mut file, entry.stat.bytes).at(one.path)?;
                Node::File {
                    blob,
                    bytes,
                    mode,
                    mtime_ns,
                }
            }
        }))
    }

    /// Builds the error for a path that could not be read, whose previous content could then not be restored.
    fn read_error(&self, side: DiffSide, path: &Path, error: &io::Error) -> FileError {
        let is_locked = error.kind() == io::ErrorKind::PermissionDenied;
        let path = display_path(path);
        match (side, self.kind) {
            (DiffSide::Before, UpperSource::Layer | UpperSource::Copy(_)) if is_locked => {
                FileError::sandbox_unavailable(format!(
                    "The command changed `{path}`, which you may not read: what was there can be neither shown nor brought back. Nothing was changed. Give yourself the right to read it (`chmod u+rX`) and repeat, or run the command for real."
                ))
            }
            _ => FileError::from_io(path, error),
        }
    }

    fn add_change(
        &mut self,
        path: &Path,
        before: PathContent,
        after: PathContent,
        has_hard_links: HardLinkedSides,
    ) -> Result<(), FileError> {
        if is_unchanged(&before, &after) {
            return Ok(());
        }
        if self.diff.changes.len() >= LAYER_PATHS_MAX {
            let why = format!("it changed more than {LAYER_PATHS_MAX} paths");
            return Err(self.limit_error(&why));
        }
        self.diff.changes.push(ChangedPath {
            path: path.to_owned(),
            before,
            after,
            has_hard_links,
        });
        Ok(())
    }

    fn limit_error(&self, why: &str) -> FileError {
        match self.kind {
            UpperSource::Layer | UpperSource::Copy(_) => diff_limit_error(why),
            UpperSource::InPlace(_) => FileError::from_display("what the command changed", why),
        }
    }
}

/// A name that is compared.
#[derive(Clone, Copy)]
struct NamedEntry<'a> {
    name: &'a OsStr,
    path: &'a Path,
    depth: usize,
}

/// Both sides of a folder: its upper one, and its lower one where it exists.
#[derive(Clone, Copy)]
struct FolderSides<'a> {
    upper: &'a Dir,
    lower: Option<&'a Dir>,
}

/// An entry that was found: the folder that holds it, and its file details.
#[derive(Clone, Copy)]
struct FoundEntry<'a> {
    folder: &'a Dir,
    details: FileDetails,
}

/// Builds the error for a command that did more than can be reviewed.
pub(in crate::dry_run) fn diff_limit_error(why: &str) -> FileError {
    FileError::sandbox_unavailable(format!(
        "The command did more than can be shown: {why}. Nothing was changed. Let it do less at once, or run it for real."
    ))
}
