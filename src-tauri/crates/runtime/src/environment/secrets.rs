//! The closed files of a workspace, found by their names. Every dry run looks for them, so what a folder held is remembered
//! for as long as it stays unchanged, and what decides which files are closed. What the kernel says is unchanged (`quiet.rs`) is
//! not looked at either.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::masks::is_ours;
use super::quiet::{Quiet, Turn};
use crate::files::{ClosedBy, shown};
use crate::limits::{FOLDERS_REMEMBERED_MAX, SECRETS_MAX, SECRETS_NAMES_MAX, STEADY_NS};
use crate::{FileError, Workspace};

#[cfg(test)]
mod tests;

/// Folders with many names and few secrets: looked at when everything else was.
const LAST: &[&str] = &[".git", ".venv", "node_modules", "target", "vendor"];

/// The closed files of workspaces, as far as they are known.
#[derive(Debug)]
pub(super) struct Secrets {
    folders: Mutex<HashMap<PathBuf, Remembered>>,
    /// How long a folder must have stayed as it is before it is remembered, in nanoseconds.
    steady_ns: i64,
    /// How many names are looked at.
    names_max: usize,
    /// How many closed files are masked.
    secrets_max: usize,
    quiet: Quiet,
}

impl Default for Secrets {
    fn default() -> Self {
        Self {
            folders: Mutex::default(),
            steady_ns: STEADY_NS,
            names_max: SECRETS_NAMES_MAX,
            secrets_max: SECRETS_MAX,
            quiet: Quiet::default(),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
impl Secrets {
    /// Remembers at once, as if everything were long ago.
    pub(super) fn of_old() -> Self {
        Self {
            steady_ns: -1,
            ..Self::default()
        }
    }

    pub(super) fn quiet(&self) -> &Quiet {
        &self.quiet
    }

    /// Whether a search would look at no folder of this workspace.
    pub(super) fn are_known(&self, workspace: &Workspace) -> bool {
        let known = |by| self.quiet.known(workspace.root(), &by);
        workspace.closed_by().and_then(known).is_some()
    }
}

/// What a folder held.
#[derive(Debug, Clone)]
struct Remembered {
    /// How the folder was: nothing in it can come or go without another one.
    stamp: Stamp,
    /// What decided which files are closed.
    by: ClosedBy,
    held: Arc<Held>,
}

/// Which folder it is, and when its names changed last. No program sets that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    changed_ns: i64,
}

#[derive(Debug, Default)]
struct Held {
    names: usize,
    /// Up to how many names were looked at: if there are as many, more may follow.
    names_max: usize,
    folders: Vec<PathBuf>,
    closed: Vec<PathBuf>,
}

/// The closed files that were found.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    pub paths: Vec<PathBuf>,
    /// Whether the limits left nothing out.
    pub are_all: bool,
}

/// A folder that was seen to.
struct Seen {
    held: Arc<Held>,
    /// Whether it is heard when another one takes the place of a folder in it.
    is_watched: bool,
    /// Whether it stays as it is until something else is heard.
    is_quiet: bool,
}

/// What a search goes by.
struct Search<'a> {
    workspace: &'a Workspace,
    by: Option<&'a ClosedBy>,
    heard: Option<Turn>,
}

impl Secrets {
    /// The closed files of a workspace.
    ///
    /// # Errors
    /// [`FileError::NoRoom`] where it has too many names to be looked through, or too many closed files to be masked one by one:
    /// a part of them would be no wall.
    pub fn of(&self, workspace: &Workspace) -> Result<Found, FileError> {
        let found = self.look_through(workspace);
        match found.are_all {
            true => Ok(found),
            false => Err(FileError::NoRoom {
                reason: format!(
                    "The folder has more than {} names or {} secret files, too many to close each secret in the room. Open a smaller folder.",
                    self.names_max, self.secrets_max
                ),
            }),
        }
    }

    /// Looks for the closed files of a workspace, from its root down, level by level, as far as the limits go.
    pub(super) fn look_through(&self, workspace: &Workspace) -> Found {
        let (by, root) = (workspace.closed_by(), workspace.root());
        let search = Search {
            workspace,
            by: by.as_ref(),
            heard: by.as_ref().and_then(|_| self.quiet.hear(root)),
        };
        let (Some(by), Some(heard)) = (search.by, search.heard) else {
            return self.search(&search).0;
        };
        if let Some(found) = self.quiet.known(root, by) {
            return found;
        }
        let (found, is_quiet) = self.search(&search);
        if is_quiet {
            self.quiet.remember(heard, root, by, &found);
        }
        found
    }

    /// The closed files, and whether every folder that was seen to is quiet.
    fn search(&self, search: &Search<'_>) -> (Found, bool) {
        let mut found = Found::default();
        let (mut names, mut is_quiet) = (0, true);
        let mut next = VecDeque::from([(search.workspace.root().to_owned(), true)]);
        let mut last = VecDeque::new();
        while let Some((folder, above)) = next.pop_front().or_else(|| last.pop_front()) {
            // What is not ours and cannot be read here cannot be read in the room.
            let Some(seen) = self.see(search, (folder, above), self.names_max - names) else {
                is_quiet = false;
                continue;
            };
            is_quiet &= seen.is_quiet;
            names += seen.held.names;
            found.paths.extend(seen.held.closed.iter().cloned());
            if names >= self.names_max || found.paths.len() > self.secrets_max {
                found.paths.truncate(self.secrets_max);
                return (found, is_quiet);
            }
            for folder in &seen.held.folders {
                let is_last = |name: &OsStr| LAST.iter().any(|last| name == OsStr::new(last));
                let one = (folder.clone(), seen.is_watched);
                match folder.file_name().is_some_and(is_last) {
                    true => last.push_back(one),
                    false => next.push_back(one),
                }
            }
        }
        found.are_all = true;
        (found, is_quiet)
    }

    /// What a folder holds, up to so many names; none if it cannot be read. `above` is whether the folder above is watched.
    fn see(
        &self,
        search: &Search<'_>,
        (folder, above): (PathBuf, bool),
        names_max: usize,
    ) -> Option<Seen> {
        let remembered = search.by.and_then(|by| {
            let all = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
            let known = all.get(&folder)?;
            let fits = Arc::ptr_eq(&known.by, by) && known.held.is_what_is_found(names_max);
            fits.then(|| known.clone())
        });
        if let Some(known) = &remembered
            && search.heard.is_some()
            && self.quiet.is(&folder)
        {
            return Some(Seen {
                held: known.held.clone(),
                is_watched: true,
                is_quiet: true,
            });
        }
        // Before anything is looked at: what happens from here on is heard.
        let heard = search.heard.filter(|_| above && self.quiet.watch(&folder));
        let seen = |held, folder: &Path, is_remembered| Seen {
            held,
            is_watched: heard.is_some(),
            is_quiet: is_remembered && heard.is_some_and(|heard| self.quiet.is_now(heard, folder)),
        };
        let stamp = Stamp::of(&folder)?;
        if let Some(known) = remembered
            && known.stamp == stamp
        {
            return Some(seen(known.held, &folder, true));
        }
        let held = Arc::new(look(search.workspace, &folder, names_max)?);
        let (Some(by), true) = (search.by, stamp.is_steady(self.steady_ns)) else {
            return Some(seen(held, &folder, false));
        };
        let known = Remembered {
            stamp,
            by: by.clone(),
            held: held.clone(),
        };
        let mut all = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= FOLDERS_REMEMBERED_MAX {
            all.clear();
        }
        all.insert(folder.clone(), known);
        drop(all);
        Some(seen(held, &folder, true))
    }
}

impl Held {
    /// Whether a look at up to so many names would find the same: the first of them are the same ones each time.
    fn is_what_is_found(&self, names_max: usize) -> bool {
        let is_whole = self.names < self.names_max;
        is_whole && self.names <= names_max || self.names_max == names_max
    }
}

impl Stamp {
    fn of(folder: &Path) -> Option<Self> {
        let found = fs::symlink_metadata(folder).ok()?;
        Some(Self {
            device: found.dev(),
            inode: found.ino(),
            changed_ns: found
                .ctime()
                .saturating_mul(1_000_000_000)
                .saturating_add(found.ctime_nsec()),
        })
    }

    /// Whether whatever changes from now on gives another stamp, because the last change is so long ago.
    fn is_steady(self, steady_ns: i64) -> bool {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let now = i64::try_from(now.as_nanos()).unwrap_or(i64::MIN);
        now.saturating_sub(self.changed_ns) > steady_ns
    }
}

/// Looks into a folder, up to so many names. One of ours that we may not list or enter is closed whole: a command may give itself the
/// right to.
fn look(workspace: &Workspace, folder: &Path, names_max: usize) -> Option<Held> {
    let mut held = Held {
        names_max,
        ..Held::default()
    };
    let entered = fs::symlink_metadata(folder.join("."));
    let entries = match entered.and_then(|_| fs::read_dir(folder)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && is_ours(folder) => {
            held.closed.push(folder.to_owned());
            return Some(held);
        }
        Err(_) => return None,
    };
    for entry in entries.flatten().take(names_max) {
        held.names += 1;
        let (Ok(kind), path) = (entry.file_type(), entry.path()) else {
            continue;
        };
        let rel = path.strip_prefix(workspace.root()).unwrap_or(&path);
        if kind.is_dir() {
            held.folders.push(path);
        } else if workspace.is_closed(&shown(rel)) {
            held.closed.push(path);
        }
    }
    Some(held)
}
