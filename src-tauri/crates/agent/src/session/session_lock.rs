//! Who works in a session: one process at a time. Windows, command lines and gateways share a data folder, and what one of
//! them does is neither taken for left behind nor gone on with by another.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::sleep;
use std::time::Duration;

use protocol::{SessionId, UserError};
use runtime::{FileLock, SessionFolder};

/// Whoever only looks whether it is held, holds it for a moment.
const ATTEMPTS_MAX: usize = 3;
const RETRY_DELAY: Duration = Duration::from_millis(2);

/// What holds a session for this process while something is done in it.
#[derive(Default)]
pub(crate) struct SessionLock(Mutex<Weak<FileLock>>);

impl SessionLock {
    /// Holds the session until everybody here who asked has dropped what they got.
    ///
    /// # Errors
    /// Another process works in it, or the lock cannot be taken.
    pub(crate) fn acquire(&self, folder: &SessionFolder) -> Result<Arc<FileLock>, UserError> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = held.upgrade() {
            return Ok(lock);
        }
        for _ in 0..ATTEMPTS_MAX {
            if let Some(lock) = folder.try_lock()? {
                let lock = Arc::new(lock);
                *held = Arc::downgrade(&lock);
                return Ok(lock);
            }
            sleep(RETRY_DELAY);
        }
        Err(UserError::new(
            "Another Countersign works in this session: a command line, or a program that it serves.",
            "Wait until it is done, or begin a session of your own in the same folder.",
        ))
    }
}

/// Whether some process works in a session: another one, if nobody does here.
pub(crate) fn is_locked(data_dir: &Path, id: &SessionId) -> Result<bool, UserError> {
    Ok(SessionFolder::open(data_dir, id)?.try_lock()?.is_none())
}

/// Whether somebody works in a session. Where that cannot be told, it is left to a later start.
pub(crate) fn is_locked_or_unknown(data_dir: &Path, session: &SessionId) -> bool {
    is_locked(data_dir, session).unwrap_or(true)
}
