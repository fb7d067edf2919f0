//! Folders of ours with trees of others in them: made for the owner alone, held while somebody lives in them, removed whatever
//! is in them.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Held by who lives in a folder. A folder whose lock is free was left by a crash.
const ALIVE: &str = "alive";

/// Makes a folder of ours and moves in.
pub(super) fn found(folder: &Path) -> io::Result<File> {
    make(folder, 0o700)?;
    let alive = alive(folder)?;
    alive.lock()?;
    Ok(alive)
}

/// Moves into a folder that nobody lives in; none if somebody does.
pub(super) fn taken_over(folder: &Path) -> io::Result<Option<File>> {
    let alive = alive(folder)?;
    Ok(alive.try_lock().is_ok().then_some(alive))
}

/// Whether somebody lives in a folder. One that does not say so was left while it was made.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(super) fn is_lived_in(folder: &Path) -> bool {
    File::open(folder.join(ALIVE)).is_ok_and(|alive| alive.try_lock().is_err())
}

/// What is held by who lives there. Nothing is cut off it: it may be held already.
fn alive(folder: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(folder.join(ALIVE))
}

#[cfg(not(unix))]
pub(super) use elsewhere::{make, remove};
#[cfg(unix)]
pub(super) use on_unix::{make, remove};

#[cfg(unix)]
mod on_unix {
    use std::fs::DirBuilder;
    use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};

    use super::{Path, fs, io};

    /// So deep a tree is removed in place; what is deeper is brought up first.
    const DEEP: usize = 64;

    /// Makes a folder with this mode.
    pub(in super::super) fn make(folder: &Path, mode: u32) -> io::Result<()> {
        DirBuilder::new().mode(mode).create(folder)
    }

    /// Removes a folder of ours with everything in it, whatever modes it has and however deep it is. The kernel leaves a work
    /// folder that nobody may enter.
    pub(in super::super) fn remove(folder: &Path) -> io::Result<()> {
        let mut deep = 0;
        empty(folder, folder, 0, &mut deep)?;
        for number in 0.. {
            // What was brought up may bring up more.
            if number >= deep {
                break;
            }
            let path = folder.join(format!("deep-{number}"));
            empty(folder, &path, 0, &mut deep)?;
            fs::remove_dir(path)?;
        }
        fs::remove_dir(folder)
    }

    fn empty(top: &Path, folder: &Path, depth: usize, deep: &mut usize) -> io::Result<()> {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let path = entry.path();
            if !entry.file_type()?.is_dir() {
                fs::remove_file(&path)?;
            } else if depth >= DEEP {
                fs::rename(&path, top.join(format!("deep-{deep}")))?;
                *deep += 1;
            } else if depth > 0 || !entry.file_name().as_encoded_bytes().starts_with(b"deep-") {
                empty(top, &path, depth + 1, deep)?;
                fs::remove_dir(&path)?;
            }
        }
        Ok(())
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use super::{Path, fs, io};

    /// Makes a folder. There are no modes here: what is in a folder of the person is the person's.
    pub(in super::super) fn make(folder: &Path, mode: u32) -> io::Result<()> {
        let _ = mode;
        fs::create_dir(folder)
    }

    /// Removes a folder of ours with everything in it.
    pub(in super::super) fn remove(folder: &Path) -> io::Result<()> {
        fs::remove_dir_all(folder)
    }
}
