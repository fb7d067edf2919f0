//! Timers of a session's running calls, each reused by a later call.
//!
//! Registering a new timer wakes the timer thread, which costs more than a short call. Resetting an existing timer to a
//! later time wakes no thread.

use std::pin::Pin;

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Sleep, sleep};

/// A timer; its holder sets it before waiting for it.
pub(crate) type Timer = Pin<Box<Sleep>>;

/// Timers that no call uses: at most as many as calls ran at once.
#[derive(Debug, Default)]
pub(crate) struct TimerPool(Mutex<Vec<Timer>>);

impl TimerPool {
    /// Returns a timer for a call. It may still be set to the time of an earlier call.
    pub fn acquire(&self) -> Timer {
        let kept = self.0.lock().pop();
        kept.unwrap_or_else(|| Box::pin(sleep(Duration::ZERO)))
    }

    /// Returns the timer of a call that is over to the pool.
    pub fn release(&self, alarm: Timer) {
        self.0.lock().push(alarm);
    }
}
