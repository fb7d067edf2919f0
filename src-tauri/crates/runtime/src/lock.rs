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
    if let Some(folder) = path.parent() {
        private_folder(folder)?;
    }
    let file = open(path)?;
    for _ in 0..LOCK_TRIES {
        if taken(path, &file)? {
            return Ok(Lock(file));
        }
        sleep(LOCK_TRY_EVERY);
    }
    Err(FileError::other(
        path.display().to_string(),
        "another Countersign is writing there and does not come to an end",
    ))
}

/// The same, now or not at all: none if somebody else holds it. Takes a folder, too, where those can be locked; the folder
/// of a file must be there.
///
/// # Errors
/// It cannot be opened or locked.
pub fn try_lock(path: &Path) -> Result<Option<Lock>, FileError> {
    let file = match path.is_dir() {
        true => File::open(path).map_err(|error| failed(path, &error))?,
        false => open(path)?,
    };
    Ok(taken(path, &file)?.then_some(Lock(file)))
}

fn open(path: &Path) -> Result<File, FileError> {
    let mut options = File::options();
    let options = options.create(true).truncate(false).write(true);
    options.open(path).map_err(|error| failed(path, &error))
}

/// Whether it is held now by who opened this.
fn taken(path: &Path, file: &File) -> Result<bool, FileError> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(failed(path, &error)),
    }
}

fn failed(path: &Path, error: &std::io::Error) -> FileError {
    FileError::from_io(path.display().to_string(), error)
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
