//! A lock that holds across processes, for the time in which a file of the app is read and rewritten.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread::sleep;

use crate::fs::at_path::AtPath as _;
use crate::limits::{LOCK_RETRY_INTERVAL, LOCK_TRIES};
use crate::{FileError, create_private_folder};

/// A held lock, released when this is dropped, also by the end of the process.
#[derive(Debug)]
pub struct FileLock(#[expect(dead_code, reason = "what is open holds the lock")] File);

/// Takes the lock that a file stands for; the file is created, and stays.
///
/// # Errors
/// Another process holds the lock for longer than a rewrite takes, or the file cannot be opened.
pub fn lock_file(path: &Path) -> Result<FileLock, FileError> {
    if let Some(folder) = path.parent() {
        create_private_folder(folder)?;
    }
    let file = open_lock_file(path)?;
    for _ in 0..LOCK_TRIES {
        if try_acquire(path, &file)? {
            return Ok(FileLock(file));
        }
        sleep(LOCK_RETRY_INTERVAL);
    }
    Err(FileError::from_display(
        path.display().to_string(),
        "another Countersign is writing there and does not come to an end",
    ))
}

/// Takes the lock at once or not at all: `None` if it is held elsewhere. `path` may be a folder, too, where those can
/// be locked; the folder of a file must exist.
///
/// # Errors
/// The file cannot be opened or locked.
pub fn try_lock_file(path: &Path) -> Result<Option<FileLock>, FileError> {
    let file = match path.is_dir() {
        true => File::open(path).at(path)?,
        false => open_lock_file(path)?,
    };
    Ok(try_acquire(path, &file)?.then_some(FileLock(file)))
}

/// Takes a part of the lock at once or not at all: others may have a part of it meanwhile, but nobody the whole. `None`
/// if somebody has the whole lock. The folder of the file must exist.
///
/// # Errors
/// The file cannot be opened or locked.
pub fn try_share_lock_file(path: &Path) -> Result<Option<FileLock>, FileError> {
    let file = open_lock_file(path)?;
    match file.try_lock_shared() {
        Ok(()) => Ok(Some(FileLock(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error).at(path),
    }
}

fn open_lock_file(path: &Path) -> Result<File, FileError> {
    let mut options = File::options();
    let options = options.create(true).truncate(false).write(true);
    options.open(path).at(path)
}

/// Whether the lock was taken.
fn try_acquire(path: &Path, file: &File) -> Result<bool, FileError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error).at(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_at_a_time() {
        let home = tempfile::tempdir().unwrap();
        let (at, count) = (home.path().join("a/rules.lock"), home.path().join("count"));
        std::fs::write(&count, "0").unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        let _lock = lock_file(&at).unwrap();
                        let now: u32 = std::fs::read_to_string(&count).unwrap().parse().unwrap();
                        std::fs::write(&count, (now + 1).to_string()).unwrap();
                    }
                });
            }
        });
        assert_eq!(std::fs::read_to_string(&count).unwrap(), "100");
    }

    #[test]
    fn a_shared_lock_keeps_out_who_wants_it_alone() {
        let home = tempfile::tempdir().unwrap();
        let at = home.path().join("in-use");
        let shared = [(); 2].map(|()| try_share_lock_file(&at).unwrap().unwrap());
        assert!(try_lock_file(&at).unwrap().is_none());
        drop(shared);
        let alone = try_lock_file(&at).unwrap().unwrap();
        assert!(try_share_lock_file(&at).unwrap().is_none());
        drop(alone);
        assert!(try_share_lock_file(&at).unwrap().is_some());
    }
}
