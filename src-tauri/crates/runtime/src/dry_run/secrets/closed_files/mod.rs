//! The closed files of a workspace, found by their names. Every dry run looks for them, so the content of a folder is
//! remembered for as long as the folder stays unchanged, and so does the source that decides which files are closed.
//! Folders that the kernel reports as unchanged (`folder_watch`) are not looked at either.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::dry_run::secrets::file_stamp::FileStamp;
use crate::dry_run::secrets::folder_watch::{FolderWatch, WatchTurn};
use crate::dry_run::secrets::masks::is_owned_by_us;
use crate::fs::workspace::{ClosedSource, display_path};
use crate::limits::{FOLDER_STABLE_NS, FOLDERS_CACHED_MAX, SECRETS_MAX, SECRETS_NAMES_MAX};
use crate::{FileError, Workspace};

#[cfg(test)]
mod tests;

/// Folders with many names and few secrets: searched after everything else.
const LOW_PRIORITY_FOLDERS: &[&str] = &[".git", ".venv", "node_modules", "target", "vendor"];

/// The closed files of workspaces, as far as they are known.
#[derive(Debug)]
pub(in crate::dry_run) struct ClosedFileFinder {
    folders: Mutex<HashMap<PathBuf, CachedFolder>>,
    /// How long a folder must have stayed unchanged before it is remembered, in nanoseconds.
    steady_ns: i64,
    /// How many names are looked at.
    names_max: usize,
    /// How many closed files are masked.
    secrets_max: usize,
    quiet: FolderWatch,
}

impl Default for ClosedFileFinder {
    fn default() -> Self {
        Self {
            folders: Mutex::default(),
            steady_ns: FOLDER_STABLE_NS,
            names_max: SECRETS_NAMES_MAX,
            secrets_max: SECRETS_MAX,
            quiet: FolderWatch::default(),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
impl ClosedFileFinder {
    /// Returns a finder that remembers folders at once, as if every change were long ago.
    pub(in crate::dry_run) fn without_settle_time() -> Self {
        Self {
            steady_ns: -1,
            ..Self::default()
        }
    }

    pub(in crate::dry_run) fn folder_watch(&self) -> &FolderWatch {
        &self.quiet
    }

    /// Whether a search would look at no folder of this workspace.
    pub(in crate::dry_run) fn is_cached(&self, workspace: &Workspace) -> bool {
        let known = |by| self.quiet.cached_search(workspace.root(), &by);
        workspace.closed_source().and_then(known).is_some()
    }
}

/// The remembered content of a folder.
#[derive(Debug, Clone)]
struct CachedFolder {
    /// Stamp of the folder: nothing in it can be added or removed without changing it.
    stamp: FileStamp,
    /// The source that decided which files are closed.
    by: ClosedSource,
    held: Arc<FolderContents>,
}

#[derive(Debug, Default)]
struct FolderContents {
    names: usize,
    /// How many names were looked at, at most; if there are as many, more may follow.
    names_max: usize,
    folders: Vec<PathBuf>,
    closed: Vec<PathBuf>,
}

/// The closed files that were found.
#[derive(Debug, Clone, Default)]
pub(in crate::dry_run) struct FoundClosedFiles {
    pub paths: Vec<PathBuf>,
    /// Whether the list is complete, so that the limits left nothing out.
    pub is_complete: bool,
}

/// A folder that was visited.
struct VisitedFolder {
    held: Arc<FolderContents>,
    /// Whether the replacement of a folder in this one is reported.
    is_watched: bool,
    /// Whether the folder stays unchanged until a change is reported.
    is_quiet: bool,
}

/// The parameters of a search.
struct ClosedFileSearch<'a> {
    workspace: &'a Workspace,
    by: Option<&'a ClosedSource>,
    heard: Option<WatchTurn>,
}

impl ClosedFileFinder {
    /// Finds the closed files of a workspace.
    ///
    /// # Errors
    /// [`FileError::SandboxUnavailable`] where the workspace has too many names to be searched, or too many closed
    /// files to be masked one by one: masking a part of them would be no protection.
    pub fn find_closed_files(&self, workspace: &Workspace) -> Result<FoundClosedFiles, FileError> {
        let found = self.search_from_root(workspace);
        match found.is_complete {
            true => Ok(found),
            false => Err(FileError::sandbox_unavailable(format!(
                "The folder has more than {} names or {} secret files, too many to mask each secret in the sandbox. Open a smaller folder.",
                self.names_max, self.secrets_max
            ))),
        }
    }

    /// Searches the closed files of a workspace, from its root down, level by level, as far as the limits go.
    pub(in crate::dry_run) fn search_from_root(&self, workspace: &Workspace) -> FoundClosedFiles {
        let (by, root) = (workspace.closed_source(), workspace.root());
        let search = ClosedFileSearch {
            workspace,
            by: by.as_ref(),
            heard: by.as_ref().and_then(|_| self.quiet.poll_changes(root)),
        };
        let (Some(by), Some(heard)) = (search.by, search.heard) else {
            return self.search_levels(&search).0;
        };
        if let Some(found) = self.quiet.cached_search(root, by) {
            return found;
        }
        let (found, is_quiet) = self.search_levels(&search);
        if is_quiet {
            self.quiet.cache_search(heard, root, by, &found);
        }
        found
    }

    /// Returns the closed files, and whether every folder that was visited is quiet.
    fn search_levels(&self, search: &ClosedFileSearch<'_>) -> (FoundClosedFiles, bool) {
        let mut closed_files = FoundClosedFiles::default();
        let (mut names, mut is_quiet) = (0, true);
        let mut next = VecDeque::from([(search.workspace.root().to_owned(), true)]);
        let mut last = VecDeque::new();
        while let Some((folder, is_parent_watched)) = next.pop_front().or_else(|| last.pop_front())
        {
            // A folder that is not ours and cannot be read here cannot be read in the sandbox.
            let Some(seen) =
                self.visit_folder(search, folder, is_parent_watched, self.names_max - names)
            else {
                is_quiet = false;
                continue;
            };
            is_quiet &= seen.is_quiet;
            names += seen.held.names;
            closed_files.paths.extend(seen.held.closed.iter().cloned());
            if names >= self.names_max || closed_files.paths.len() > self.secrets_max {
                closed_files.paths.truncate(self.secrets_max);
                return (closed_files, is_quiet);
            }
            for folder in &seen.held.folders {
                let is_last = |name: &OsStr| {
                    LOW_PRIORITY_FOLDERS
                        .iter()
                        .any(|last| name == OsStr::new(last))
                };
                let one = (folder.clone(), seen.is_watched);
                match folder.file_name().is_some_and(is_last) {
                    true => last.push_back(one),
                    false => next.push_back(one),
                }
            }
        }
        closed_files.is_complete = true;
        (closed_files, is_quiet)
    }

    /// Reads the content of a folder, up to `names_max` names; `None` if it cannot be read. `is_parent_watched` is
    /// whether the folder above is watched.
    fn visit_folder(
        &self,
        search: &ClosedFileSearch<'_>,
        folder: PathBuf,
        is_parent_watched: bool,
        names_max: usize,
    ) -> Option<VisitedFolder> {
        let remembered = search.by.and_then(|by| {
            let all = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
            let cached = all.get(&folder)?;
            let fits = Arc::ptr_eq(&cached.by, by) && cached.held.is_valid_for(names_max);
            fits.then(|| cached.clone())
        });
        if let Some(cached) = &remembered
            && search.heard.is_some()
            && self.quiet.is_unchanged(&folder)
        {
            return Some(VisitedFolder {
                held: cached.held.clone(),
                is_watched: true,
                is_quiet: true,
            });
        }
        // Before anything is looked at: what happens from here on is heard.
        let heard = search
            .heard
            .filter(|_| is_parent_watched && self.quiet.watch_folder(&folder));
        let visited = |contents, folder: &Path, is_remembered| VisitedFolder {
            held: contents,
            is_watched: heard.is_some(),
            is_quiet: is_remembered
                && heard.is_some_and(|heard| self.quiet.confirm_unchanged(heard, folder)),
        };
        let stamp = FileStamp::read(&folder)?;
        if let Some(cached) = remembered
            && cached.stamp == stamp
        {
            return Some(visited(cached.held, &folder, true));
        }
        let contents = Arc::new(read_folder(search.workspace, &folder, names_max)?);
        let (Some(by), true) = (search.by, stamp.is_stable(self.steady_ns)) else {
            return Some(visited(contents, &folder, false));
        };
        let cached = CachedFolder {
            stamp,
            by: by.clone(),
            held: contents.clone(),
        };
        let mut all = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= FOLDERS_CACHED_MAX {
            all.clear();
        }
        all.insert(folder.clone(), cached);
        drop(all);
        Some(visited(contents, &folder, true))
    }
}

impl FolderContents {
    /// Whether a look at up to `names_max` names would find the same: the first names are the same ones each time.
    fn is_valid_for(&self, names_max: usize) -> bool {
        let is_whole = self.names < self.names_max;
        is_whole && self.names <= names_max || self.names_max == names_max
    }
}

/// Reads a folder, up to `names_max` names. A folder of the same user that cannot be listed or entered is closed whole:
/// a command could give itself the right to do so.
fn read_folder(workspace: &Workspace, folder: &Path, names_max: usize) -> Option<FolderContents> {
    let mut contents = FolderContents {
        names_max,
        ..FolderContents::default()
    };
    let entered = fs::symlink_metadata(folder.join("."));
    let entries = match entered.and_then(|_| fs::read_dir(folder)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && is_owned_by_us(folder) => {
            contents.closed.push(folder.to_owned());
            return Some(contents);
        }
        Err(_) => return None,
    };
    for entry in entries.flatten().take(names_max) {
        contents.names += 1;
        let (Ok(kind), path) = (entry.file_type(), entry.path()) else {
            continue;
        };
        let rel = path.strip_prefix(workspace.root()).unwrap_or(&path);
        if kind.is_dir() {
            contents.folders.push(path);
        } else if workspace.is_closed(&display_path(rel)) {
            contents.closed.push(path);
        }
    }
    Some(contents)
}
