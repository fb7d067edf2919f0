//! Alarms of a session's running calls, each used again by the call that comes next.
//!
//! A new timer wakes the thread that waits for the next one, which costs more than a short call does. A timer that stands
//! already and is set to a later time wakes nobody.

use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Sleep, sleep};

/// A timer; whoever has it sets it before waiting for it.
pub(crate) type Timer = Pin<Box<Sleep>>;

/// The alarms that no call has: at most as many as calls ran at once.
#[derive(Debug, Default)]
pub(crate) struct TimerPool(Mutex<Vec<Timer>>);

impl TimerPool {
    /// One for a call. It may still be set to the time of the call before.
    pub fn acquire(&self) -> Timer {
        let kept = self.lock_idle().pop();
        kept.unwrap_or_else(|| Box::pin(sleep(Duration::ZERO)))
    }

    /// Keeps the alarm of a call that is over.
    pub fn release(&self, alarm: Timer) {
        self.lock_idle().push(alarm);
    }

    fn lock_idle(&self) -> MutexGuard<'_, Vec<Timer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
