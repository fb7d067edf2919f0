//! Folders of the app that hold trees of other files: created for the owner alone, held by a lock while in use, and
//! removed whatever they contain.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Lock held by the process that uses a folder. A folder whose lock is free was left by a crash.
const LIVENESS_LOCK_NAME: &str = "alive";

/// Creates a folder of the app and takes its lock.
pub(in crate::dry_run) fn create_owned(folder: &Path) -> io::Result<File> {
    create_folder(folder, 0o700)?;
    let alive = open_liveness_lock(folder)?;
    alive.lock()?;
    Ok(alive)
}

/// Takes the lock of a folder that is not in use; `None` if it is in use.
pub(in crate::dry_run) fn try_take_over(folder: &Path) -> io::Result<Option<File>> {
    let alive = open_liveness_lock(folder)?;
    Ok(alive.try_lock().is_ok().then_some(alive))
}

/// Whether a folder is in use. One without a lock file was left while it was being created.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(in crate::dry_run) fn has_owner(folder: &Path) -> bool {
    File::open(folder.join(LIVENESS_LOCK_NAME)).is_ok_and(|alive| alive.try_lock().is_err())
}

/// Opens the lock file of a folder in use. The file is not truncated: it may be locked already.
fn open_liveness_lock(folder: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(folder.join(LIVENESS_LOCK_NAME))
}

#[cfg(not(unix))]
pub(in crate::dry_run) use elsewhere::{create_folder, remove_folder};
#[cfg(unix)]
pub(in crate::dry_run) use on_unix::{create_folder, remove_folder};

#[cfg(unix)]
mod on_unix {
    use std::fs::DirBuilder;
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};

    use super::{Path, fs, io};

    /// Depth down to which a tree is removed in place; deeper parts are moved up first.
    const DEPTH_BEFORE_LIFT: usize = 64;

    /// Creates a folder with this mode.
    pub(in crate::dry_run) fn create_folder(folder: &Path, mode: u32) -> io::Result<()> {
        DirBuilder::new().mode(mode).create(folder)
    }

    /// Removes a folder of the app with everything in it, whatever modes it has and however deep it is. The kernel
    /// leaves a work folder that nobody may enter.
    pub(in crate::dry_run) fn remove_folder(folder: &Path) -> io::Result<()> {
        let mut deep = 0;
        empty_folder(folder, folder, 0, &mut deep)?;
        for number in 0.. {
            // Emptying a folder that was moved up may move up more.
            if number >= deep {
                break;
            }
            let path = folder.join(format!("deep-{number}"));
            empty_folder(folder, &path, 0, &mut deep)?;
            fs::remove_dir(path)?;
        }
        fs::remove_dir(folder)
    }

    fn empty_folder(top: &Path, folder: &Path, depth: usize, deep: &mut usize) -> io::Result<()> {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            if !entry.file_type()?.is_dir() {
                fs::remove_file(&path)?;
            } else if depth >= DEPTH_BEFORE_LIFT {
                fs::rename(&path, top.join(format!("deep-{deep}")))?;
                *deep += 1;
            } else if depth > 0 || !entry.file_name().as_encoded_bytes().starts_with(b"deep-") {
                empty_folder(top, &path, depth + 1, deep)?;
                fs::remove_dir(&path)?;
            }
        }
        Ok(())
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use super::{Path, fs, io};

    /// Creates a folder. There are no modes on this system: the content of a person's folder belongs to that person.
    pub(in crate::dry_run) fn create_folder(folder: &Path, mode: u32) -> io::Result<()> {
        let _ = mode;
        fs::create_dir(folder)
    }

    /// Removes a folder of the app with everything in it.
    pub(in crate::dry_run) fn remove_folder(folder: &Path) -> io::Result<()> {
        fs::remove_dir_all(folder)
    }
}
