//! Owner's permission bits that an act needs temporarily: added before the act, removed after it.
//!
//! An ordinary user cannot read a file of mode 000 or remove a name from a folder of mode 555, but may change both
//! modes. The added bits are logged in the data folder before the first mode changes; after a crash the next operation
//! on the history removes them. No link is ever followed, and files of other users are left as they are.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::HistoryInner;
use crate::error::is_link_refused;
use crate::fs::at_path::AtPath as _;
use crate::fs::dir;
use crate::fs::dir::{Dir, FileStat, is_not_found};
use crate::fs::fault_injection::crash_point;
use crate::fs::workspace::{PathKind, display_path};
use crate::limits::{SYNC_SINGLY_MAX, TREE_DEPTH_MAX, TREE_ITEMS_MAX};
use crate::undo::entry::manifest::RelPath;
use crate::{FileError, Workspace, create_private_folder, write_atomic};

/// The access that an act needs at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum AccessNeed {
    /// Reading a file, or entering a folder and listing it.
    Read,
    /// Creating and removing names in a folder.
    Change,
}

impl AccessNeed {
    /// Returns the owner's bits for this access; `None` for a kind that has no mode of its own.
    fn owner_bits(self, kind: PathKind) -> Option<u32> {
        match (kind, self) {
            (PathKind::File, _) => Some(0o400),
            (PathKind::Folder, Self::Read) => Some(0o500),
            (PathKind::Folder, Self::Change) => Some(0o700),
            (PathKind::Link | PathKind::Special, _) => None,
        }
    }
}

/// A path to whose mode owner's bits were added.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct AddedBits {
    path: RelPath,
    /// Original mode of the path.
    mode: u32,
    /// Temporary mode of the path.
    for_now: u32,
    /// Device and inode, so that a file that took its place is left alone.
    place: Option<(u64, u64)>,
}

impl AddedBits {
    /// Whether a mode is the original one with added bits: all of them, or a part if adding them was interrupted.
    fn accounts_for(&self, now: u32) -> bool {
        now != self.mode && now & self.mode == self.mode && now & !self.for_now == 0
    }
}

/// The bits added in one workspace, as logged on disk.
#[derive(Debug, Serialize, Deserialize)]
struct UnlockLog {
    root: RelPath,
    added: Vec<AddedBits>,
}

/// A workspace of which some paths have additional owner's bits. Dropping it removes these bits.
pub(super) struct UnlockedPaths {
    dir: Dir,
    root: RelPath,
    log: PathBuf,
    added: RefCell<BTreeMap<PathBuf, AddedBits>>,
}

impl UnlockedPaths {
    /// Returns the workspace with nothing unlocked.
    pub(super) fn new(inner: &HistoryInner, workspace: &Workspace) -> Self {
        let name = format!("{}.json", uuid::Uuid::now_v7().simple());
        Self {
            dir: workspace.dir().clone(),
            root: RelPath(workspace.root().to_owned()),
            log: log_folder(inner).join(name),
            added: RefCell::default(),
        }
    }

    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Returns the file details of a path, with its original mode; `None` where a link stands in the way.
    pub(super) fn stat(&self, rel: &Path) -> io::Result<Option<FileStat>> {
        let mut stat = match self.dir.stat_at(rel) {
            Err(error) if is_link_refused(&error) => None,
            other => other?,
        };
        let added = self.added.borrow();
        if let (Some(stat), Some(added)) = (&mut stat, added.get(rel))
            && added.accounts_for(stat.mode)
        {
            stat.mode = added.mode;
        }
        Ok(stat)
    }

    /// Unlocks paths so that they can be read, see [`UnlockedPaths::unlock_paths`].
    pub(super) fn unlock_for_reading<'p>(
        &self,
        paths: impl IntoIterator<Item = &'p Path>,
    ) -> Result<(), FileError> {
        self.unlock_paths(paths.into_iter().map(|path| (path, AccessNeed::Read)))
    }

    /// Unlocks these paths, and the folders above them for being entered.
    ///
    /// # Errors
    /// Any error reported by the system. A path that cannot be unlocked because it belongs to another user is no error:
    /// the operation that needs it fails later.
    pub(super) fn unlock_paths<'p>(
        &self,
        needs: impl IntoIterator<Item = (&'p Path, AccessNeed)>,
    ) -> Result<(), FileError> {
        let mut levels: BTreeMap<usize, BTreeMap<&Path, AccessNeed>> = BTreeMap::new();
        for (path, need) in needs {
            let depth = path.components().count();
            for (above, depth) in path.ancestors().zip((0..=depth).rev()) {
                let need = if above == path {
                    need
                } else {
                    AccessNeed::Read
                };
                let level = levels.entry(depth).or_default();
                let known = level.insert(above, need);
                if let Some(known) = known.filter(|known| *known >= need) {
                    level.insert(above, known);
                    break;
                }
            }
        }
        // From the outside in: what is below a folder is seen once that is unlocked.
        levels
            .values()
            .try_for_each(|level| self.unlock_level(level))
    }

    /// Unlocks everything at and below a path for reading.
    ///
    /// # Errors
    /// As for unlocking paths; also when there is too much below the path.
    pub(super) fn unlock_tree(&self, top: &Path) -> Result<(), FileError> {
        let mut level = vec![top.to_owned()];
        let mut count = 0;
        for _ in 0..=TREE_DEPTH_MAX {
            self.unlock_for_reading(level.iter().map(PathBuf::as_path))?;
            let mut below = Vec::new();
            for path in &level {
                let stat = self.stat(path).at(path)?;
                if stat.is_some_and(|stat| stat.kind == PathKind::Folder) {
                    let names = self
                        .dir
                        .open_folder(path)
                        .and_then(|folder| folder.list_names());
                    below.extend(names.at(path)?.iter().map(|name| path.join(name)));
                }
            }
            count += below.len();
            if count > TREE_ITEMS_MAX {
                return Err(FileError::TooMany {
                    path: display_path(top),
                    items_max: TREE_ITEMS_MAX,
                });
            }
            if below.is_empty() {
                break;
            }
            level = below;
        }
        Ok(())
    }

    /// Marks the current mode of a path as final: it stays when the other paths are locked.
    pub(super) fn accept_current_mode(&self, path: &Path) {
        self.added.borrow_mut().remove(path);
    }

    /// Returns every path that is unlocked now.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.added.borrow().keys().cloned().collect()
    }

    /// Restores the original mode of one path.
    pub(super) fn relock_path(&self, path: &Path, sync: bool) -> io::Result<()> {
        let added = self.added.borrow().get(path).cloned();
        if let Some(added) = added {
            relock_one(&self.dir, &added, sync)?;
            self.accept_current_mode(path);
        }
        Ok(())
    }

    /// Restores the original mode of every path.
    ///
    /// # Errors
    /// Any error reported by the system; the next operation on the history tries again.
    pub(super) fn relock(&self) -> Result<(), FileError> {
        if !self.log.exists() {
            return Ok(());
        }
        let added: Vec<AddedBits> = self.added.borrow().values().cloned().collect();
        relock_added(&self.dir, &added)?;
        remove_log(&self.log)?;
        self.added.borrow_mut().clear();
        Ok(())
    }

    fn unlock_level(&self, level: &BTreeMap<&Path, AccessNeed>) -> Result<(), FileError> {
        let mut folders = Vec::new();
        let mut opened: Option<(&Path, Dir)> = None;
        for (path, need) in level {
            let failed = |error: io::Error| FileError::from_io(display_path(path), &error);
            let (parent, name) =
                dir::split_parent(path).unwrap_or((Path::new(""), OsStr::new(".")));
            if opened.as_ref().is_none_or(|(open, _)| *open != parent) {
                opened = match self.dir.open_folder(parent) {
                    Ok(folder) => Some((parent, folder)),
                    Err(error) if is_unreachable(&error) => continue,
                    Err(error) => return Err(failed(error)),
                };
            }
            if let Some((_, folder)) = &opened
                && let Some(added) = self
                    .missing_bits(folder, name, path, *need)
                    .map_err(failed)?
            {
                folders.push((folder.clone(), name, added));
            }
        }
        if folders.is_empty() {
            return Ok(());
        }
        let new = folders
            .iter()
            .map(|(.., one)| (one.path.0.clone(), one.clone()));
        self.added.borrow_mut().extend(new);
        self.save_log()?;
        for (folder, name, one) in folders {
            let path = &one.path.0;
            match folder.set_mode_of(name, one.for_now) {
                // It belongs to somebody else, or is gone.
                Err(error) if is_unreachable(&error) => self.accept_current_mode(path),
                other => other.at(path)?,
            }
            crash_point().at(path)?;
        }
        Ok(())
    }

    /// Returns the bits that are missing at a name; `None` if none are.
    fn missing_bits(
        &self,
        folder: &Dir,
        name: &OsStr,
        path: &Path,
        need: AccessNeed,
    ) -> io::Result<Option<AddedBits>> {
        let details = match folder.read_details(name) {
            Err(error) if is_unreachable(&error) => return Ok(None),
            other => other?,
        };
        let Some(details) = details else {
            return Ok(None);
        };
        let Some(bits) = need.owner_bits(details.stat.kind) else {
            return Ok(None);
        };
        if folder.has_owner_access(name, bits) {
            return Ok(None);
        }
        let now = details.stat.mode;
        let added = self.added.borrow();
        let before = added.get(path);
        let before = before.filter(|before| {
            before.place == details.device_and_inode() && before.accounts_for(now)
        });
        Ok(Some(AddedBits {
            path: RelPath(path.to_owned()),
            mode: before.map_or(now, |before| before.mode),
            for_now: now | bits,
            place: details.device_and_inode(),
        }))
    }

    fn save_log(&self) -> Result<(), FileError> {
        let failed = |error: &dyn std::fmt::Display| FileError::from_display("the history", error);
        let log = UnlockLog {
            root: self.root.clone(),
            added: self.added.borrow().values().cloned().collect(),
        };
        let bytes = serde_json::to_vec(&log).map_err(|error| failed(&error))?;
        if let Some(folder) = self.log.parent() {
            create_private_folder(folder)?;
        }
        write_atomic(&self.log, &bytes, 0o600)?;
        crash_point().at("the history")
    }
}

impl Drop for UnlockedPaths {
    fn drop(&mut self) {
        // Work that panicked may panic again; the next work on the history locks the paths.
        if !std::thread::panicking()
            && let Err(error) = self.relock()
        {
            tracing::warn!(%error, "some modes are put back by the next work on the history");
        }
    }
}

/// Removes bits that a crash left behind, in every existing workspace. A log that was not written completely is
/// removed: no mode changes before its log is complete.
pub(super) fn relock_after_crash(inner: &HistoryInner) {
    let Ok(logs) = fs::read_dir(log_folder(inner)) else {
        return;
    };
    for log in logs.flatten().map(|log| log.path()) {
        let settled = match log.extension().is_some_and(|ending| ending == "json") {
            true => relock_from_log(&log),
            false => crate::remove_if_exists(&log),
        };
        if let Err(error) = settled {
            tracing::warn!(log = %log.display(), %error, "some modes are not put back");
        }
    }
}

fn relock_from_log(log: &Path) -> Result<(), FileError> {
    let failed = |error: &dyn std::fmt::Display| FileError::from_display(display_path(log), error);
    let bytes = fs::read(log).map_err(|error| failed(&error))?;
    let logged: UnlockLog = serde_json::from_slice(&bytes).map_err(|error| failed(&error))?;
    let root = Dir::open(&logged.root.0).at(&logged.root.0)?;
    relock_added(&root, &logged.added)?;
    remove_log(log)
}

/// Restores the original modes of these paths, which are sorted, from the inside out.
fn relock_added(root: &Dir, added: &[AddedBits]) -> Result<(), FileError> {
    let many = added.len() > SYNC_SINGLY_MAX;
    for one in added.iter().rev() {
        let path = &one.path.0;
        relock_one(root, one, !many).at(path)?;
    }
    if many {
        root.sync_file_system().at("the workspace")?;
    }
    Ok(())
}

/// Restores one path, unless another program changed its mode or replaced it since.
fn relock_one(root: &Dir, one: &AddedBits, sync: bool) -> io::Result<()> {
    let (parent, name) = dir::split_parent(&one.path.0).unwrap_or((Path::new(""), OsStr::new(".")));
    let folder = match root.open_folder(parent) {
        Err(error) if is_unreachable(&error) => return Ok(()),
        other => other?,
    };
    let details = folder.read_details(name)?;
    let is_left_open = details.is_some_and(|found| {
        found.device_and_inode() == one.place && one.accounts_for(found.stat.mode)
    });
    if !is_left_open {
        return Ok(());
    }
    let opened = match sync {
        true => folder.open_file(Path::new(name)).ok(),
        false => None,
    };
    folder.set_mode_of(name, one.mode)?;
    if let Some(opened) = opened {
        opened.sync_all()?;
    }
    crash_point()
}

fn remove_log(log: &Path) -> Result<(), FileError> {
    crate::remove_if_exists(log)?;
    crash_point().at("the history")
}

fn log_folder(inner: &HistoryInner) -> PathBuf {
    inner.entries.0.with_file_name("unlocked")
}

/// Whether an error means that a path does not exist or is not accessible.
fn is_unreachable(error: &io::Error) -> bool {
    is_not_found(error)
        || is_link_refused(error)
        || matches!(
            error.kind(),
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
        )
}
