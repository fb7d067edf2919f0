//! The lock of a session: one process at a time works in it. Windows, command lines and gateways share a data folder;
//! the lock keeps each from treating a session of another as abandoned, or from continuing it.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::thread::sleep;
use std::time::Duration;

use parking_lot::Mutex;
use protocol::{SessionId, UserError};
use runtime::{FileLock, SessionFolder};

/// Attempts to take the lock. Checking whether it is held takes it for a moment, and a program that another thread starts
/// meanwhile has every open file of this process until it begins, which takes longer on a busy machine.
const ATTEMPTS_MAX: usize = 40;
const RETRY_DELAY: Duration = Duration::from_millis(5);

/// Lock that holds a session for this process while something is done in it.
#[derive(Default)]
pub(crate) struct SessionLock(Mutex<Weak<FileLock>>);

impl SessionLock {
    /// Locks the session until all holders in this process have dropped the returned lock.
    ///
    /// # Errors
    /// Another process works in the session, or the lock cannot be taken.
    pub(crate) fn acquire(&self, folder: &SessionFolder) -> Result<Arc<FileLock>, UserError> {
        let mut held = self.0.lock();
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

/// Whether any process works in a session: another one, if this process does not.
pub(crate) fn is_locked(data_dir: &Path, id: &SessionId) -> Result<bool, UserError> {
    Ok(SessionFolder::open(data_dir, id)?.try_lock()?.is_none())
}

/// Whether any process works in a session. `true` if that cannot be determined, which leaves the session to a later
/// start.
pub(crate) fn is_locked_or_unknown(data_dir: &Path, session: &SessionId) -> bool {
    is_locked(data_dir, session).unwrap_or(true)
}
