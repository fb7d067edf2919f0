//! Who works in a session: one process at a time. Windows, command lines and gateways share a data folder, and what one of
//! them does is neither taken for left behind nor gone on with by another.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::sleep;
use std::time::Duration;

use protocol::{Fault, SessionId};
use runtime::{Lock, SessionFolder};

/// Whoever only looks whether it is held, holds it for a moment.
const TRIES: usize = 3;
const TRY_EVERY: Duration = Duration::from_millis(2);

/// What holds a session for this process while something is done in it.
#[derive(Default)]
pub(crate) struct Held(Mutex<Weak<Lock>>);

impl Held {
    /// Holds the session until everybody here who asked has dropped what they got.
    ///
    /// # Errors
    /// Another process works in it, or the lock cannot be taken.
    pub(crate) fn here(&self, folder: &SessionFolder) -> Result<Arc<Lock>, Fault> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = held.upgrade() {
            return Ok(lock);
        }
        for _ in 0..TRIES {
            if let Some(lock) = folder.hold()? {
                let lock = Arc::new(lock);
                *held = Arc::downgrade(&lock);
                return Ok(lock);
            }
            sleep(TRY_EVERY);
        }
        Err(Fault::new(
            "Another Countersign works in this session: a command line, or a program that it serves.",
            "Wait until it is done, or begin a session of your own in the same folder.",
        ))
    }
}

/// Whether some process works in a session: another one, if nobody does here.
pub(crate) fn is_held(data_dir: &Path, id: &SessionId) -> Result<bool, Fault> {
    Ok(SessionFolder::open(data_dir, id)?.hold()?.is_none())
}
