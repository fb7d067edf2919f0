//! A lock that holds across processes: whoever reads a file of ours to write it anew has it meanwhile.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread::sleep;

use crate::limits::{LOCK_TRIES, LOCK_TRY_EVERY};
use crate::{FileError, private_folder};

/// The lock, held until this is dropped, also by the end of the process.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "what is open holds the lock")] File);

/// Takes the lock that a file stands for; the file is made, and stays.
///
/// # Errors
/// Somebody else holds it for longer than such a thing takes, or the file cannot be opened.
pub fn lock(path: &Path) -> Result<Lock, FileError> {
    let name = || path.display().to_string();
    let failed = |error: std::io::Error| FileError::from_io(name(), &error);
    if let Some(folder) = path.parent() {
        private_folder(folder)?;
    }
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(failed)?;
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(Lock(file)),
            Err(TryLockError::WouldBlock) => sleep(LOCK_TRY_EVERY),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
    Err(FileError::other(
        name(),
        "another Countersign is writing there and does not come to an end",
    ))
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
                        let _lock = lock(&at).unwrap();
                        let now: u32 = std::fs::read_to_string(&count).unwrap().parse().unwrap();
                        std::fs::write(&count, (now + 1).to_string()).unwrap();
                    }
                });
            }
        });
        assert_eq!(std::fs::read_to_string(&count).unwrap(), "100");
    }
}
