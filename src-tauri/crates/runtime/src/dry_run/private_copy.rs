//! A copy of a workspace that calls may change in place of the workspace itself, with a data folder beside it. Both are
//! removed with it; what a crash left behind, with the next one.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::dry_run::overlay::owned_folder;
use crate::dry_run::overlay::workspace_copy::{
    SourceEntry, copy_file, copy_link, copy_mode_and_time,
};
use crate::fs::at_path::AtPath as _;
use crate::fs::dir::{CAN_CREATE_LINKS, Dir};
use crate::fs::workspace::{PathKind, display_path};
use crate::limits::{SKIPPED_PATHS_MAX, TREE_DEPTH_MAX};
use crate::{FileError, FileLock, Workspace, lock_file};

/// Name of the lock under which copies are made and removed.
const LOCK_NAME: &str = "lock";

/// A private copy of a workspace.
#[derive(Debug)]
pub struct PrivateCopy {
    folder: PathBuf,
    _alive: File,
    skipped: SkippedPaths,
}

/// Paths of a workspace that were not copied.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SkippedPaths {
    /// Number of the paths.
    pub count: u64,
    /// The first of them, each with the reason.
    pub shown: Vec<String>,
}

impl SkippedPaths {
    fn add(&mut self, path: &Path, why: &str) {
        self.count += 1;
        if self.shown.len() < SKIPPED_PATHS_MAX {
            self.shown.push(format!("{}: {why}", display_path(path)));
        }
    }
}

impl PrivateCopy {
    /// Copies a workspace into a new folder below `parent`: by reference where the disk can, links as links.
    ///
    /// # Errors
    /// The disk is full, or any other error of the system but for a single path that cannot be read.
    pub fn create(workspace: &Workspace, parent: &Path) -> Result<Self, FileError> {
        let folder = parent.join(uuid::Uuid::now_v7().simple().to_string());
        let alive = {
            let _lock: FileLock = lock_file(&parent.join(LOCK_NAME))?;
            remove_abandoned(parent);
            owned_folder::create_owned(&folder).at(&folder)?
        };
        let mut copy = Self {
            folder,
            _alive: alive,
            skipped: SkippedPaths::default(),
        };
        for part in [copy.workspace(), copy.data_dir()] {
            owned_folder::create_folder(&part, 0o700).at(&part)?;
        }
        let mut job = CopyJob {
            clones: true,
            own: std::fs::canonicalize(parent).at(parent)?,
            root: workspace.root(),
            skipped: SkippedPaths::default(),
        };
        let to = copy.workspace();
        job.copy_folder(workspace.dir(), &Dir::open(&to).at(&to)?, Path::new(""), 0)?;
        copy.skipped = job.skipped;
        Ok(copy)
    }

    /// Returns the folder that holds the copy of the workspace.
    pub fn workspace(&self) -> PathBuf {
        self.folder.join("workspace")
    }

    /// Returns the folder for the data of an engine that works in the copy.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// Returns the paths that were not copied.
    pub fn skipped(&self) -> &SkippedPaths {
        &self.skipped
    }
}

impl Drop for PrivateCopy {
    fn drop(&mut self) {
        if let Err(error) = owned_folder::remove_folder(&self.folder) {
            tracing::warn!(%error, folder = %self.folder.display(), "a private copy is still there");
        }
    }
}

/// Removes copies whose process has ended.
fn remove_abandoned(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let folder = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && let Ok(Some(_alive)) = owned_folder::try_take_over(&folder) {
            // What cannot be removed now is tried again the next time.
            let _ = owned_folder::remove_folder(&folder);
        }
    }
}

struct CopyJob<'a> {
    /// Whether the disk has made a reference for every file so far.
    clones: bool,
    /// Folder of the private copies, which is not copied where it lies in the workspace.
    own: PathBuf,
    root: &'a Path,
    skipped: SkippedPaths,
}

impl CopyJob<'_> {
    fn copy_folder(
        &mut self,
        from: &Dir,
        to: &Dir,
        at: &Path,
        depth: usize,
    ) -> Result<(), FileError> {
        for name in from.list_names().at(at)? {
            let path = at.join(&name);
            // What vanished meanwhile is not there.
            let Some(details) = from.read_details(&name).at(&path)? else {
                continue;
            };
            let entry = SourceEntry {
                folder: from,
                name: &name,
                path: &path,
                details: &details,
            };
            let is_copied = match details.stat.kind {
                PathKind::Folder => self.copy_subfolder(entry, to, depth)?,
                PathKind::File => self.copy_regular_file(entry, to)?,
                PathKind::Link if CAN_CREATE_LINKS => {
                    copy_link(from, &name, to).at(&path)?;
                    true
                }
                PathKind::Link => self.skip(&path, "links cannot be created here"),
                PathKind::Special => self.skip(&path, "a pipe, a socket, or a device"),
            };
            if is_copied {
                copy_mode_and_time(to, &name, &details).at(&path)?;
            }
        }
        Ok(())
    }

    fn copy_subfolder(
        &mut self,
        entry: SourceEntry<'_>,
        to: &Dir,
        depth: usize,
    ) -> Result<bool, FileError> {
        let (name, path) = (Path::new(entry.name), entry.path);
        if self.root.join(path) == self.own {
            return Ok(self.skip(path, "private copies are kept here"));
        }
        if depth >= TREE_DEPTH_MAX {
            return Ok(self.skip(path, "it lies too deep"));
        }
        let Ok(below) = entry.folder.open_folder(name) else {
            return Ok(self.skip(path, "it cannot be read"));
        };
        to.create_folder(entry.name, 0o700).at(path)?;
        let made = to.open_folder(name).at(path)?;
        self.copy_folder(&below, &made, path, depth + 1)?;
        Ok(true)
    }

    fn copy_regular_file(&mut self, entry: SourceEntry<'_>, to: &Dir) -> Result<bool, FileError> {
        match entry.folder.open_file(Path::new(entry.name)) {
            Ok(_readable) => {
                copy_file(entry, to, &mut self.clones, u64::MAX)?;
                Ok(true)
            }
            Err(_) => Ok(self.skip(entry.path, "it cannot be read")),
        }
    }

    /// Counts a path that is not copied; returns that it was not.
    fn skip(&mut self, path: &Path, why: &str) -> bool {
        self.skipped.add(path, why);
        false
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::fs::dir::make_pipe;

    #[test]
    fn a_copy_has_all_but_special_files_and_is_removed_whatever_its_modes() {
        let (from, parent) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = from.path();
        fs::create_dir_all(root.join("a/closed")).unwrap();
        fs::write(root.join("a/closed/file"), "text").unwrap();
        fs::set_permissions(root.join("a/closed"), fs::Permissions::from_mode(0o500)).unwrap();
        symlink("/nowhere", root.join("link")).unwrap();
        make_pipe(&root.join("pipe"));

        let copy = PrivateCopy::create(&Workspace::open(root).unwrap(), parent.path()).unwrap();
        let copied = copy.workspace();
        assert_eq!(fs::read(copied.join("a/closed/file")).unwrap(), b"text");
        let mode = fs::metadata(copied.join("a/closed")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o500);
        let target = fs::read_link(copied.join("link")).unwrap();
        assert_eq!(target, Path::new("/nowhere"));
        let expected = SkippedPaths {
            count: 1,
            shown: vec!["pipe: a pipe, a socket, or a device".to_owned()],
        };
        assert_eq!(copy.skipped(), &expected);
        assert!(!copied.join("pipe").exists());

        fs::write(copied.join("a/new"), "new").unwrap();
        assert!(!root.join("a/new").exists());
        drop(copy);
        assert!(!copied.exists());
    }

    #[test]
    fn copies_that_a_crash_left_behind_are_removed_with_the_next_one() {
        let (from, parent) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let left = parent.path().join("left");
        fs::create_dir_all(left.join("workspace/a")).unwrap();
        let copy = PrivateCopy::create(&Workspace::open(from.path()).unwrap(), parent.path());
        assert!(copy.is_ok());
        assert!(!left.exists());
    }

    #[test]
    fn the_folder_of_the_copies_is_not_copied_into_itself() {
        let from = tempfile::tempdir().unwrap();
        let parent = from.path().join("copies");
        fs::write(from.path().join("file"), "text").unwrap();
        let copy = PrivateCopy::create(&Workspace::open(from.path()).unwrap(), &parent).unwrap();
        assert!(copy.workspace().join("file").exists());
        assert!(!copy.workspace().join("copies").exists());
    }
}
