//! Where layers lie: a folder for each of us that run, a folder in it for each command, and nothing when they are done.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use protocol::Fault;

use super::copy::Copied;
use super::folder::{found, is_lived_in, make, remove};
use crate::lock::lock;
use crate::private_folder;

/// Held while somebody joins or leaves a place, so that nobody is swept who is just coming.
const TURN: &str = "turn";
/// A folder on one file system in which our layers lie.
#[derive(Debug)]
pub(super) struct Place {
    folder: PathBuf,
    next: AtomicU64,
    _alive: File,
}

/// The folder of one command; gone when dropped.
#[derive(Debug)]
pub(super) struct Layer {
    folder: PathBuf,
    /// How its upper folder was before the command, where that is a copy of the workspace.
    #[cfg_attr(
        not(target_os = "linux"),
        allow(dead_code, reason = "no copy stands in the place of a workspace")
    )]
    pub copied: Option<Copied>,
}

impl Place {
    /// The place in the data folder.
    pub(super) fn of_data(folder: &Path) -> Result<Self, Fault> {
        Self::open(folder).map_err(|error| {
            Fault::new(
                format!(
                    "The folder for rooms `{}` cannot be used.",
                    folder.display()
                ),
                "Check the permissions of the data folder.",
            )
            .caused_by(&error)
        })
    }

    /// Makes a folder of our own below `parent`, and removes those that nobody lives in.
    pub(super) fn open(parent: &Path) -> io::Result<Self> {
        private_folder(parent).map_err(io::Error::other)?;
        let stands = fs::symlink_metadata(parent)?;
        if !stands.is_dir() || stands.uid() != rustix::process::getuid().as_raw() {
            return Err(io::Error::other("it belongs to somebody else"));
        }
        fs::set_permissions(parent, fs::Permissions::from_mode(0o700))?;
        let parent = fs::canonicalize(parent)?;
        let _turn = lock(&parent.join(TURN)).map_err(io::Error::other)?;
        for entry in fs::read_dir(&parent)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                sweep(&entry.path());
            }
        }
        let folder = parent.join(uuid::Uuid::now_v7().simple().to_string());
        Ok(Self {
            _alive: found(&folder)?,
            folder,
            next: AtomicU64::new(0),
        })
    }

    /// Whether it lies in a folder.
    #[cfg(target_os = "linux")]
    pub(super) fn lies_in(&self, folder: &Path) -> bool {
        self.folder.starts_with(folder)
    }

    /// Makes the folder of one command. Its upper folder looks like the root of the workspace, which it stands for.
    pub(super) fn layer(&self, root_mode: u32) -> io::Result<Layer> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.join(number.to_string());
        make(&folder, 0o700)?;
        let layer = Layer {
            folder,
            copied: None,
        };
        make(&layer.upper(), 0o700)?;
        make(&layer.work(), 0o700)?;
        fs::set_permissions(layer.upper(), fs::Permissions::from_mode(root_mode))?;
        Ok(layer)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.folder) {
            tracing::warn!(folder = %self.folder.display(), %error, "a layer is left over");
        }
    }
}

impl Layer {
    pub(super) fn upper(&self) -> PathBuf {
        self.folder.join("upper")
    }

    pub(super) fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// For the temporary files of a command that has no `/tmp` of its own.
    #[cfg(target_os = "linux")]
    pub(super) fn tmp(&self) -> PathBuf {
        self.work()
    }

    pub(super) fn told(&self) -> PathBuf {
        self.folder.join("told")
    }
}

impl Drop for Layer {
    fn drop(&mut self) {
        if let Err(error) = remove(&self.folder) {
            tracing::warn!(folder = %self.folder.display(), %error, "a layer is left over");
        }
    }
}

/// Removes a folder that nobody lives in. What cannot be removed is tried again at the next start.
fn sweep(folder: &Path) {
    if !is_lived_in(folder)
        && let Err(error) = remove(folder)
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
        let parent = home.path().join("rooms");
        let living = Place::open(&parent).unwrap();
        let layer = living.layer(0o755).unwrap();
        fs::write(layer.upper().join("kept"), "kept").unwrap();
        // As a crash leaves it: nobody holds the lock, and a folder that nobody may enter.
        let crashed = parent.join("crashed");
        drop(found(&crashed).unwrap());
        let mut deep = crashed.join("0");
        make(&deep, 0o700).unwrap();
        make(&deep.join("work"), 0o000).unwrap();
        for _ in 0..200 {
            deep = deep.join("d");
            make(&deep, 0o700).unwrap();
        }
        fs::set_permissions(&deep, fs::Permissions::from_mode(0o000)).unwrap();

        let next = Place::open(&parent).unwrap();
        assert!(!crashed.exists());
        assert_eq!(
            fs::read_to_string(layer.upper().join("kept")).unwrap(),
            "kept"
        );
        drop((next, layer, living));
        let left: Vec<_> = fs::read_dir(&parent)
            .unwrap()
            .map(|e| e.unwrap().file_name())
            .collect();
        assert_eq!(left, [TURN]);
    }
}
