//! The places of layers: one folder for each running process of the app, in it one folder for each command, and nothing
//! left when they are done.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
#[cfg(target_os = "linux")]
use std::time::SystemTime;

use protocol::UserError;

#[cfg(target_os = "linux")]
use crate::FileError;
use crate::create_private_folder;
use crate::dry_run::overlay::owned_folder::{
    create_folder, create_owned, has_owner, remove_folder,
};
use crate::dry_run::overlay::workspace_copy::WorkspaceCopy;
#[cfg(target_os = "linux")]
use crate::fs::at_path::AtPath as _;
use crate::fs::lock::lock_file;

/// Held while a process joins or leaves a place, so that the folder of a process that is just joining is not swept.
const TURN_LOCK_NAME: &str = "turn";
/// Folder of the layers that outlive a process, see [`LayerPlace::kept_folder`].
const KEPT_FOLDER_NAME: &str = "kept";
/// How long a kept layer stays after it was used last.
const KEPT_MAX: Duration = Duration::from_secs(90 * 24 * 60 * 60);
/// Name that the folder in the data folder had in earlier versions.
const EARLIER_FOLDER_NAME: &str = "rooms";

/// A folder on one file system that holds the layers of this process.
#[derive(Debug)]
pub(in crate::dry_run) struct LayerPlace {
    folder: PathBuf,
    #[cfg(target_os = "linux")]
    kept: PathBuf,
    next: AtomicU64,
    _alive: File,
}

/// The folder of one command, removed when dropped.
#[derive(Debug)]
pub(in crate::dry_run) struct LayerFolder {
    folder: PathBuf,
    /// State of the upper folder before the command, where it is a copy of the workspace.
    #[cfg_attr(
        not(target_os = "linux"),
        allow(dead_code, reason = "no copy stands in the place of a workspace")
    )]
    pub copied: Option<WorkspaceCopy>,
}

impl LayerPlace {
    /// Opens the place in the data folder. What a crash of an earlier version left in its folder is removed.
    pub(in crate::dry_run) fn in_data_folder(folder: &Path) -> Result<Self, UserError> {
        remove_earlier_folder(&folder.with_file_name(EARLIER_FOLDER_NAME));
        Self::open(folder).map_err(|error| {
            UserError::new(
                format!(
                    "The folder for sandboxes `{}` cannot be used.",
                    folder.display()
                ),
                "Check the permissions of the data folder.",
            )
            .with_source(&error)
        })
    }

    /// Creates a folder of this process below `parent`, and removes those of processes that have ended.
    pub(in crate::dry_run) fn open(parent: &Path) -> io::Result<Self> {
        create_private_folder(parent).map_err(io::Error::other)?;
        let stands = fs::symlink_metadata(parent)?;
        if !stands.is_dir() || stands.uid() != rustix::process::getuid().as_raw() {
            return Err(io::Error::other("it belongs to somebody else"));
        }
        fs::set_permissions(parent, fs::Permissions::from_mode(0o700))?;
        let parent = fs::canonicalize(parent)?;
        let _turn = lock_file(&parent.join(TURN_LOCK_NAME)).map_err(io::Error::other)?;
        let kept = parent.join(KEPT_FOLDER_NAME);
        for entry in fs::read_dir(&parent)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() && entry.path() != kept {
                sweep_orphan(&entry.path());
            }
        }
        sweep_kept(&kept);
        let folder = parent.join(uuid::Uuid::now_v7().simple().to_string());
        Ok(Self {
            _alive: create_owned(&folder)?,
            folder,
            #[cfg(target_os = "linux")]
            kept,
            next: AtomicU64::new(0),
        })
    }

    /// Whether this place lies in a folder.
    #[cfg(target_os = "linux")]
    pub(in crate::dry_run) fn is_in(&self, folder: &Path) -> bool {
        self.folder.starts_with(folder)
    }

    /// Returns the folder of the layers that are kept under this name, also when the process has ended. It stays until it has
    /// not been used for 90 days.
    #[cfg(target_os = "linux")]
    pub(in crate::dry_run) fn kept_folder(&self, name: &str) -> Result<PathBuf, FileError> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(FileError::sandbox_unavailable(format!(
                "No state can be kept under the name `{name}`."
            )));
        }
        let folder = self.kept.join(name);
        create_private_folder(&folder)?;
        // By this time it is swept.
        let used = File::open(&folder).and_then(|open| open.set_modified(SystemTime::now()));
        used.at(&folder)?;
        Ok(folder)
    }

    /// Creates the folder of one command. Its upper folder has the mode of the workspace root, which it stands for.
    pub(in crate::dry_run) fn create_layer(&self, root_mode: u32) -> io::Result<LayerFolder> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.join(number.to_string());
        create_folder(&folder, 0o700)?;
        let layer = LayerFolder {
            folder,
            copied: None,
        };
        create_folder(&layer.upper_path(), 0o700)?;
        create_folder(&layer.work_path(), 0o700)?;
        fs::set_permissions(layer.upper_path(), fs::Permissions::from_mode(root_mode))?;
        Ok(layer)
    }
}

impl Drop for LayerPlace {
    fn drop(&mut self) {
        if let Err(error) = remove_folder(&self.folder) {
            tracing::warn!(folder = %self.folder.display(), %error, "a layer is left over");
        }
    }
}

impl LayerFolder {
    pub(in crate::dry_run) fn upper_path(&self) -> PathBuf {
        self.folder.join("upper")
    }

    pub(in crate::dry_run) fn work_path(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// Returns the folder for temporary files of a command that has no `/tmp` of its own.
    #[cfg(target_os = "linux")]
    pub(in crate::dry_run) fn tmp_path(&self) -> PathBuf {
        self.work_path()
    }

    /// Returns the folder of the layers over a home folder.
    #[cfg(target_os = "linux")]
    pub(in crate::dry_run) fn home_path(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// Returns the folder of all layers.
    #[cfg(target_os = "linux")]
    pub(in crate::dry_run) fn path(&self) -> &Path {
        &self.folder
    }

    pub(in crate::dry_run) fn report_path(&self) -> PathBuf {
        self.folder.join("told")
    }
}

impl Drop for LayerFolder {
    fn drop(&mut self) {
        if let Err(error) = remove_folder(&self.folder) {
            tracing::warn!(folder = %self.folder.display(), %error, "a layer is left over");
        }
    }
}

/// Removes the folder of earlier versions, unless a process still has layers there.
fn remove_earlier_folder(folder: &Path) {
    if !fs::symlink_metadata(folder).is_ok_and(|stands| stands.is_dir()) {
        return;
    }
    let swept = LayerPlace::open(folder).map(drop);
    let has_lock_only = || fs::read_dir(folder).is_ok_and(|names| names.count() == 1);
    if swept.is_ok()
        && has_lock_only()
        && let Err(error) = remove_folder(folder)
    {
        tracing::warn!(folder = %folder.display(), %error, "the folder of an earlier version stays");
    }
}

/// Removes kept layers that were not used for long. One that cannot be removed is tried again at the next start.
fn sweep_kept(kept: &Path) {
    let Ok(entries) = fs::read_dir(kept) else {
        return;
    };
    for entry in entries.flatten() {
        let used = entry.metadata().and_then(|found| found.modified());
        let unused = used.ok().and_then(|used| used.elapsed().ok());
        if unused.is_some_and(|unused| unused > KEPT_MAX)
            && let Err(error) = remove_folder(&entry.path())
        {
            tracing::warn!(folder = %entry.path().display(), %error, "a kept layer stays");
        }
    }
}

/// Removes a folder whose process has ended. A folder that cannot be removed is tried again at the next start.
fn sweep_orphan(folder: &Path) {
    if !has_owner(folder)
        && let Err(error) = remove_folder(folder)
    {
        tracing::warn!(folder = %folder.display(), %error, "a layer of an earlier run stays");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_crash_left_is_swept_and_what_lives_is_not() {
        let home = tempfile::tempdir().unwrap();
        let parent = home.path().join("sandboxes");
        let living = LayerPlace::open(&parent).unwrap();
        let layer = living.create_layer(0o755).unwrap();
        fs::write(layer.upper_path().join("kept"), "kept").unwrap();
        // As a crash leaves it: nobody holds the lock, and a folder that nobody may enter.
        let crashed = parent.join("crashed");
        drop(create_owned(&crashed).unwrap());
        let mut deep = crashed.join("0");
        create_folder(&deep, 0o700).unwrap();
        create_folder(&deep.join("work"), 0o000).unwrap();
        for _ in 0..200 {
            deep = deep.join("d");
            create_folder(&deep, 0o700).unwrap();
        }
        fs::set_permissions(&deep, fs::Permissions::from_mode(0o000)).unwrap();

        let next = LayerPlace::open(&parent).unwrap();
        assert!(!crashed.exists());
        assert_eq!(
            fs::read_to_string(layer.upper_path().join("kept")).unwrap(),
            "kept"
        );
        drop((next, layer, living));
        let left: Vec<_> = fs::read_dir(&parent)
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        assert_eq!(left, [TURN_LOCK_NAME]);
    }

    #[test]
    fn the_folder_of_an_earlier_version_goes_once_nobody_has_layers_there() {
        let home = tempfile::tempdir().unwrap();
        let (earlier, present) = (home.path().join("rooms"), home.path().join("sandboxes"));
        let living = LayerPlace::open(&earlier).unwrap();
        drop(create_owned(&earlier.join("crashed")).unwrap());
        LayerPlace::in_data_folder(&present).unwrap();
        assert!(living.folder.is_dir() && !earlier.join("crashed").exists());
        drop(living);
        LayerPlace::in_data_folder(&present).unwrap();
        assert!(!earlier.exists() && present.is_dir());
    }
}
