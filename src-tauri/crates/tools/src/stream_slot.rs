//! The place for what a command wrote to each of its streams, where a program outside takes the place of the command.

use std::sync::{Arc, Mutex, PoisonError};

use runtime::CommandStreams;

/// Place for the streams of one call's command; a later run of the call replaces those of an earlier one.
#[derive(Debug, Clone, Default)]
pub struct StreamSlot(Arc<Mutex<Option<CommandStreams>>>);

impl StreamSlot {
    /// Puts in what a command wrote.
    pub(crate) fn put(&self, streams: CommandStreams) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(streams);
    }

    /// Takes out what the command wrote that ran last; none if none ran.
    pub fn take(&self) -> Option<CommandStreams> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.take()
    }
}
