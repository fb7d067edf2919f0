//! The files below a folder, as git sees them: ignored ones left out, hidden ones not, in order of their paths.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::available_parallelism;

use ignore::{DirEntry, WalkBuilder, WalkState};
use tokio_util::sync::CancellationToken;

use crate::fs::at_path::AtPath as _;
use crate::fs::dir::{Dir, FileStat, split_parent};
use crate::fs::fault_injection;
use crate::fs::workspace::{PathKind, PathUse, ResolvedPath, Root, display_path, join_path};
use crate::limits::{SEARCH_FILES_MAX, SEARCH_THREADS_MAX};
use crate::{FileError, Workspace};

/// Which entries below a folder a walk takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EntryFilter {
    /// Regular files that are not ignored.
    Files,
    /// Files and links that are not ignored.
    FilesAndLinks,
    /// Files, links and folders, ignored or not.
    All,
}

impl EntryFilter {
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

/// The place that a search looks in.
pub(super) struct SearchRoot {
    pub root: Arc<Root>,
    /// The folder or file, relative to the root.
    pub rel: PathBuf,
    pub kind: PathKind,
    /// Whether the root is the workspace, so that paths are shown relative to it.
    in_workspace: bool,
}

impl SearchRoot {
    pub(super) fn resolve_root(
        workspace: &Workspace,
        under: Option<&str>,
        path_use: PathUse,
    ) -> Result<Self, FileError> {
        let path = under.unwrap_or(".");
        let ResolvedPath { root, rel } = workspace.resolve_readable(path, true, path_use)?;
        let stat = root
            .dir
            .stat_at(&rel)
            .at(path)?
            .ok_or_else(|| FileError::NotFound { path: path.into() })?;
        Ok(Self {
            in_workspace: root.path == workspace.root(),
            kind: stat.kind,
            root,
            rel,
        })
    }

    /// Returns a path below the root as results show it: relative to the workspace, or absolute in a readable folder.
    pub(super) fn display_path(&self, rel: &Path) -> String {
        if self.in_workspace {
            display_path(rel)
        } else {
            display_path(&join_path(&self.root.path, rel))
        }
    }
}

/// Returns how many threads a search uses.
pub(super) fn thread_count() -> usize {
    available_parallelism().map_or(1, |n| n.get().min(SEARCH_THREADS_MAX))
}

/// Returns all `entries` at most `depth_max` folders below `ground` for which `keep` holds, relative to the root,
/// sorted by the bytes of the path.
pub(super) fn walk_entries(
    ground: &SearchRoot,
    cancel: &CancellationToken,
    entries: EntryFilter,
    depth_max: Option<usize>,
    keep: impl Fn(&Path) -> bool + Sync,
) -> Result<Vec<PathBuf>, FileError> {
    fault_injection::race_point();
    let start = join_path(&ground.root.path, &ground.rel);
    let ignores = entries != EntryFilter::All;
    let walk = WalkBuilder::new(start)
        .standard_filters(ignores)
        .max_depth(depth_max)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .threads(thread_count())
        .filter_entry(|entry| entry.file_name() != ".git")
        .build_parallel();
    let (sender, receiver) = channel();
    let too_many = AtomicBool::new(false);
    walk.run(|| {
        let mut batch = WalkBatch {
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
            path: ground.display_path(&ground.rel),
            items_max: SEARCH_FILES_MAX,
        });
    }
    found.sort_unstable_by(|a, b| a.as_os_str().cmp(b.as_os_str()));
    Ok(found)
}

/// Verifies that found names really stand below the root: the walk goes by names, and a folder may become a link to
/// elsewhere meanwhile. Sorted paths of one folder open it once.
pub(super) struct VerifiedStat<'a> {
    root: &'a Root,
    folder: Option<(PathBuf, Option<Dir>)>,
}

impl<'a> VerifiedStat<'a> {
    pub(super) fn new(ground: &'a SearchRoot) -> Self {
        Self {
            root: &ground.root,
            folder: None,
        }
    }

    /// Returns the file details of a path, the last part not followed; `None` if there is no entry.
    pub(super) fn stat(&mut self, rel: &Path) -> Option<FileStat> {
        let (parent, name) = split_parent(rel)?;
        if self.folder.as_ref().is_none_or(|(at, _)| at != parent) {
            self.folder = Some((parent.to_owned(), self.root.dir.open_folder(parent).ok()));
        }
        let folder = self
            .folder
            .as_ref()
            .and_then(|(_, folder)| folder.as_ref())?;
        folder.stat(name).ok().flatten()
    }
}

/// The entries that one thread found, handed over when the thread is done: no lock in the middle of the walk.
struct WalkBatch {
    found: Vec<PathBuf>,
    sender: Sender<Vec<PathBuf>>,
}

impl Drop for WalkBatch {
    fn drop(&mut self) {
        // The receiver outlives the walk.
        let _ = self.sender.send(std::mem::take(&mut self.found));
    }
}
