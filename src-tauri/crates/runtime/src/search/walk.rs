//! The files below a folder, as git would have them: ignored ones left out, hidden ones not, in order of their paths.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::available_parallelism;

use ignore::{DirEntry, WalkBuilder, WalkState};
use tokio_util::sync::CancellationToken;

use crate::dir::{Dir, Stat, split};
use crate::files::{PathKind, Place, Root, Use, joined, shown};
use crate::limits::{SEARCH_FILES_MAX, SEARCH_THREADS_MAX};
use crate::{FileError, Workspace, steps};

/// Which entries below a folder a walk takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entries {
    /// Regular files that are not ignored.
    Files,
    /// Files and links that are not ignored.
    FilesAndLinks,
    /// Files, links and folders, ignored or not.
    All,
}

impl Entries {
    fn contains(self, entry: &DirEntry) -> bool {
        let Some(kind) = entry.file_type() else {
            return false;
        };
        match self {
            Self::Files => kind.is_file(),
            Self::FilesAndLinks => kind.is_file() || kind.is_symlink(),
            // The folder that is walked is no entry of its own.
            Self::All => entry.depth() > 0,
        }
    }
}

/// Where a search looks.
pub(super) struct Ground {
    pub root: Arc<Root>,
    /// The folder or file, relative to the root.
    pub rel: PathBuf,
    pub kind: PathKind,
    /// Whether the root is the workspace, so that paths are shown relative to it.
    home: bool,
}

impl Ground {
    pub(super) fn of(
        workspace: &Workspace,
        under: Option<&str>,
        wanted: Use,
    ) -> Result<Self, FileError> {
        let path = under.unwrap_or(".");
        let Place { root, rel } = workspace.readable_place(path, true, wanted)?;
        let stat = root
            .dir
            .stat_at(&rel)
            .map_err(|error| FileError::from_io(path, &error))?
            .ok_or_else(|| FileError::NotFound { path: path.into() })?;
        Ok(Self {
            home: root.path == workspace.root(),
            kind: stat.kind,
            root,
            rel,
        })
    }

    /// A path below the root as the answer names it: relative to the workspace, or absolute in a readable folder.
    pub(super) fn shown(&self, rel: &Path) -> String {
        if self.home {
            shown(rel)
        } else {
            shown(&joined(&self.root.path, rel))
        }
    }
}

/// How many threads a search takes.
pub(super) fn threads() -> usize {
    available_parallelism().map_or(1, |n| n.get().min(SEARCH_THREADS_MAX))
}

/// All `entries` at most `depth_max` folders below a ground for which `keep` holds, relative to the root, sorted by the bytes
/// of the path.
pub(super) fn walk(
    ground: &Ground,
    cancel: &CancellationToken,
    entries: Entries,
    depth_max: Option<usize>,
    keep: impl Fn(&Path) -> bool + Sync,
) -> Result<Vec<PathBuf>, FileError> {
    steps::looked();
    let start = joined(&ground.root.path, &ground.rel);
    let ignores = entries != Entries::All;
    let walk = WalkBuilder::new(start)
        .standard_filters(ignores)
        .max_depth(depth_max)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .threads(threads())
        .filter_entry(|entry| entry.file_name() != ".git")
        .build_parallel();
    let (sender, receiver) = channel();
    let too_many = AtomicBool::new(false);
    walk.run(|| {
        let mut batch = Batch {
            found: Vec::new(),
            sender: sender.clone(),
        };
        let (keep, too_many) = (&keep, &too_many);
        Box::new(move |entry| {
            if cancel.is_cancelled() || too_many.load(Ordering::Relaxed) {
                return WalkState::Quit;
            }
            // A folder that cannot be listed is left out, as by ripgrep; the rest is still found.
            let Ok(entry) = entry else {
                return WalkState::Continue;
            };
            if entries.contains(&entry)
                && let Ok(rel) = entry.path().strip_prefix(&ground.root.path)
                && keep(rel)
            {
                batch.found.push(rel.to_owned());
                if batch.found.len() > SEARCH_FILES_MAX {
                    too_many.store(true, Ordering::Relaxed);
                }
            }
            WalkState::Continue
        })
    });
    drop(sender);
    if cancel.is_cancelled() {
        return Err(FileError::Cancelled);
    }
    let mut found: Vec<PathBuf> = receiver.into_iter().flatten().collect();
    if found.len() > SEARCH_FILES_MAX {
        return Err(FileError::TooMany {
            path: ground.shown(&ground.rel),
            items_max: SEARCH_FILES_MAX,
        });
    }
    found.sort_unstable_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    Ok(found)
}

/// Whether found names really stand below the root: the walk goes by names, and a folder may become a link to elsewhere
/// while it is walked. Sorted paths of one folder open it once.
pub(super) struct Standing<'a> {
    root: &'a Root,
    folder: Option<(PathBuf, Option<Dir>)>,
}

impl<'a> Standing<'a> {
    pub(super) fn below(ground: &'a Ground) -> Self {
        Self {
            root: &ground.root,
            folder: None,
        }
    }

    /// What stands there, the last part not followed; none if nothing does.
    pub(super) fn stat(&mut self, rel: &Path) -> Option<Stat> {
        let (parent, name) = split(rel)?;
        if self.folder.as_ref().is_none_or(|(at, _)| at != parent) {
            self.folder = Some((parent.to_owned(), self.root.dir.folder(parent).ok()));
        }
        let folder = self
            .folder
            .as_ref()
            .and_then(|(_, folder)| folder.as_ref())?;
        folder.stat(name).ok().flatten()
    }
}

/// What one thread found, handed over when the thread is done: no lock in the middle of the walk.
struct Batch {
    found: Vec<PathBuf>,
    sender: Sender<Vec<PathBuf>>,
}

impl Drop for Batch {
    fn drop(&mut self) {
        // The receiver outlives the walk.
        let _ = self.sender.send(std::mem::take(&mut self.found));
    }
}
