//! Sources of time and of new ids: the system's own, or fixed ones for tests.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use protocol::At;
use uuid::Uuid;
use uuid::fmt::Simple;

/// The one source of time.
pub trait Clock: Send + Sync {
    /// Milliseconds since the Unix epoch, UTC.
    fn now(&self) -> At;

    /// Milliseconds from `since` to now; 0 if the clock was set back.
    fn elapsed_ms(&self, since: At) -> u64 {
        u64::try_from(self.now().saturating_sub(since)).unwrap_or(0)
    }
}

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> At {
        // A clock before 1970 or beyond the year 292 million is broken; 0 sorts it first and breaks nothing.
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .ok()
            .and_then(|since| At::try_from(since.as_millis()).ok())
            .unwrap_or(0)
    }
}

/// A clock for tests: starts where it is told and advances one millisecond with each reading.
#[derive(Debug)]
pub struct FrozenClock(AtomicI64);

impl FrozenClock {
    /// Returns a clock whose first reading is `start`.
    pub fn new(start: At) -> Self {
        Self(AtomicI64::new(start))
    }

    /// Moves the clock on by `ms`.
    pub fn advance(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Default for FrozenClock {
    /// Starts at 2026-01-01T00:00:00Z.
    fn default() -> Self {
        Self::new(1_767_225_600_000)
    }
}

impl Clock for FrozenClock {
    fn now(&self) -> At {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

/// The one source of new ids.
pub trait IdGenerator: Send + Sync {
    /// Returns a new id: `prefix`, an underscore, and a part that makes the id unique.
    fn next_id(&self, prefix: &str) -> String;
}

/// Time-sorted UUIDs: `ses_0198…`.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimeIdGenerator;

impl IdGenerator for TimeIdGenerator {
    fn next_id(&self, prefix: &str) -> String {
        let mut text = [0; Simple::LENGTH];
        [prefix, "_", Uuid::now_v7().simple().encode_lower(&mut text)].concat()
    }
}

/// Ids for tests: one count over all prefixes, `ses_1`, `msg_2`.
#[derive(Debug, Default)]
pub struct CountingIdGenerator(AtomicU64);

impl IdGenerator for CountingIdGenerator {
    fn next_id(&self, prefix: &str) -> String {
        format!("{prefix}_{}", self.0.fetch_add(1, Ordering::SeqCst) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frozen_clock_advances_by_reading() {
        let clock = FrozenClock::new(10);
        assert_eq!((clock.now(), clock.now(), clock.elapsed_ms(5)), (10, 11, 7));
        clock.advance(100);
        assert_eq!(clock.now(), 113);
        assert_eq!(
            clock.elapsed_ms(1_000),
            0,
            "a clock set back gives no negative time"
        );
    }

    #[test]
    fn the_system_clock_is_after_this_was_written() {
        assert!(SystemClock.now() > 1_760_000_000_000);
    }

    #[test]
    fn ids_are_told_apart() {
        let ids = CountingIdGenerator::default();
        assert_eq!(
            (ids.next_id("ses"), ids.next_id("msg")),
            ("ses_1".into(), "msg_2".into())
        );
        let (first, second) = (
            TimeIdGenerator.next_id("und"),
            TimeIdGenerator.next_id("und"),
        );
        assert!(
            first.starts_with("und_") && first < second,
            "{first} {second}"
        );
    }
}
