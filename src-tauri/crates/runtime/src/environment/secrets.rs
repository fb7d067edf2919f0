//! The closed files of a workspace, found by their names. Every dry run looks for them, so what a folder held is remembered
//! for as long as it stays unchanged, and what decides which files are closed.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::Workspace;
use crate::files::{ClosedBy, shown};
use crate::limits::{FOLDERS_REMEMBERED_MAX, SECRETS_MAX, SECRETS_NAMES_MAX, STEADY_NS};

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
}

impl Default for Secrets {
    fn default() -> Self {
        Self {
            folders: Mutex::default(),
            steady_ns: STEADY_NS,
            names_max: SECRETS_NAMES_MAX,
        }
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
#[derive(Debug, Default)]
pub(super) struct Found {
    pub paths: Vec<PathBuf>,
    /// Whether the limits left nothing out.
    pub are_all: bool,
}

impl Secrets {
    /// Looks for the closed files of a workspace, from its root down, level by level, as far as the limits go.
    pub fn of(&self, workspace: &Workspace) -> Found {
        let by = workspace.closed_by();
        let mut found = Found::default();
        let mut names = 0;
        let mut next = VecDeque::from([workspace.root().to_owned()]);
        let mut last = VecDeque::new();
        while let Some(folder) = next.pop_front().or_else(|| last.pop_front()) {
            // What cannot be read here cannot be read in the room.
            let Some(held) = self.held(workspace, folder, by.as_ref(), self.names_max - names)
            else {
                continue;
            };
            names += held.names;
            found.paths.extend(held.closed.iter().cloned());
            if names >= self.names_max || found.paths.len() >= SECRETS_MAX {
                found.paths.truncate(SECRETS_MAX);
                return found;
            }
            for folder in &held.folders {
                let is_last = |name: &OsStr| LAST.iter().any(|last| name == OsStr::new(last));
                match folder.file_name().is_some_and(is_last) {
                    true => last.push_back(folder.clone()),
                    false => next.push_back(folder.clone()),
                }
            }
        }
        found.are_all = true;
        found
    }

    /// What a folder holds, up to so many names; none if it cannot be read.
    fn held(
        &self,
        workspace: &Workspace,
        folder: PathBuf,
        by: Option<&ClosedBy>,
        names_max: usize,
    ) -> Option<Arc<Held>> {
        let stamp = Stamp::of(&folder)?;
        let remembered = || {
            let all = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
            all.get(&folder).cloned()
        };
        if let (Some(by), Some(known)) = (by, remembered())
            && known.stamp == stamp
            && Arc::ptr_eq(&known.by, by)
            && known.held.is_what_is_found(names_max)
        {
            return Some(known.held);
        }
        let held = Arc::new(look(workspace, &folder, names_max)?);
        if let (Some(by), true) = (by, stamp.is_steady(self.steady_ns)) {
            let known = Remembered {
                stamp,
                by: by.clone(),
                held: held.clone(),
            };
            let mut all = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
            if all.len() >= FOLDERS_REMEMBERED_MAX {
                all.clear();
            }
            all.insert(folder, known);
        }
        Some(held)
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

/// Looks into a folder, up to so many names.
fn look(workspace: &Workspace, folder: &Path, names_max: usize) -> Option<Held> {
    let mut held = Held {
        names_max,
        ..Held::default()
    };
    for entry in fs::read_dir(folder).ok()?.flatten().take(names_max) {
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::Closed;

    #[test]
    fn a_folder_is_looked_into_again_only_after_it_changed() {
        let home = tempfile::tempdir().unwrap();
        let sub = home.path().join("a/b");
        fs::create_dir_all(&sub).unwrap();
        for name in ["one.key", "notes", "a/b/two.key", "a/b/more"] {
            fs::write(home.path().join(name), "").unwrap();
        }
        let (asked, rules) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(Mutex::new(Arc::new(".key"))),
        );
        let (counted, by) = (asked.clone(), rules.clone());
        let ends = rules.clone();
        let closed = Closed::new(move |path| {
            counted.fetch_add(1, Ordering::Relaxed);
            path.ends_with(**ends.lock().unwrap())
        })
        .by(move || Some(by.lock().unwrap().clone()));
        let workspace = Workspace::open(home.path()).unwrap().closing(closed);
        let secrets = Secrets {
            steady_ns: -1,
            ..Secrets::default()
        };
        let found = || {
            asked.store(0, Ordering::Relaxed);
            let found = secrets.of(&workspace);
            assert!(found.are_all);
            let mut names: Vec<_> = found
                .paths
                .iter()
                .map(|path| shown(path.strip_prefix(workspace.root()).unwrap()))
                .collect();
            names.sort();
            (names, asked.load(Ordering::Relaxed))
        };
        let both = || vec!["a/b/two.key".to_owned(), "one.key".to_owned()];
        assert_eq!(found(), (both(), 4));
        assert_eq!(found(), (both(), 0));

        // One more name, until the clock of the file system has seen it.
        let before = Stamp::of(&sub).unwrap();
        let mut more = 0;
        while Stamp::of(&sub).unwrap() == before {
            more += 1;
            fs::write(sub.join(format!("{more}.key")), "").unwrap();
        }
        let (names, looks) = found();
        assert_eq!((names.len(), looks), (2 + more, 2 + more));

        *rules.lock().unwrap() = Arc::new("notes");
        assert_eq!(found(), (vec!["notes".to_owned()], 4 + more));
    }

    /// What the limit cuts off is not looked at, and what it leaves is not looked at again.
    #[test]
    fn a_folder_that_is_looked_into_in_part_is_remembered_in_part() {
        let home = tempfile::tempdir().unwrap();
        let add = |folder: &str, files: usize| {
            let folder = home.path().join(folder);
            fs::create_dir_all(&folder).unwrap();
            for number in 0..files {
                fs::write(folder.join(format!("{number}.key")), "").unwrap();
            }
        };
        add("one", 4);
        let asked = Arc::new(AtomicUsize::new(0));
        let (counted, by) = (asked.clone(), Arc::new(()));
        let closed = Closed::new(move |path| {
            counted.fetch_add(1, Ordering::Relaxed);
            path.ends_with(".key")
        });
        let workspace = Workspace::open(home.path())
            .unwrap()
            .closing(closed.by(move || Some(by.clone())));
        let mut secrets = Secrets {
            steady_ns: -1,
            ..Secrets::default()
        };
        // How many names are looked at, how many secrets that finds, whether that is all, and how many names were asked about.
        for (names_max, found, are_all, looks) in [
            (4, 3, false, 3),
            (4, 3, false, 0),
            (3, 2, false, 2),
            (3, 2, false, 0),
            (6, 4, true, 4),
            (6, 4, true, 0),
            // As many as there are: whether there are more is not known.
            (5, 4, false, 0),
            (4, 3, false, 3),
        ] {
            secrets.names_max = names_max;
            asked.store(0, Ordering::Relaxed);
            let seen = secrets.of(&workspace);
            let seen = (
                seen.paths.len(),
                seen.are_all,
                asked.load(Ordering::Relaxed),
            );
            assert_eq!(seen, (found, are_all, looks), "{names_max}");
        }
        // One more name in a folder of which a part is remembered, until the clock of the file system has seen it.
        let (part, before) = (home.path().join("one"), Stamp::of(&home.path().join("one")));
        for number in 4.. {
            fs::write(part.join(format!("{number}.key")), "").unwrap();
            if Stamp::of(&part) != before {
                break;
            }
        }
        asked.store(0, Ordering::Relaxed);
        assert_eq!(secrets.of(&workspace).paths.len(), 3);
        assert_eq!(asked.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn what_changed_a_moment_ago_is_not_remembered() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("one.key"), "").unwrap();
        let closed = Closed::new(|path| path.ends_with(".key")).by(|| Some(Arc::new(())));
        let workspace = Workspace::open(home.path()).unwrap().closing(closed);
        let secrets = Secrets::default();
        assert_eq!(secrets.of(&workspace).paths.len(), 1);
        assert!(secrets.folders.lock().unwrap().is_empty());
    }

    #[test]
    fn a_large_workspace_is_looked_through_as_far_as_the_limit_goes() {
        let home = tempfile::tempdir().unwrap();
        for n in 0..=SECRETS_MAX {
            fs::write(home.path().join(format!("{n}.key")), "").unwrap();
        }
        let workspace = Workspace::open(home.path()).unwrap();
        let workspace = workspace.closing(Closed::new(|path| path.ends_with(".key")));
        let found = Secrets::default().of(&workspace);
        assert_eq!((found.paths.len(), found.are_all), (SECRETS_MAX, false));
    }
}
