//! How long to wait before a request is tried again.

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::limits::Timing;

/// Returns the pause before try number `attempt + 1`, in milliseconds; none when the provider asks for a longer pause
/// than we grant. The pause that the provider asks for wins over our own back-off.
pub(crate) fn pause_ms(
    timing: &Timing,
    attempt: u32,
    asked_ms: Option<u64>,
    random: u64,
) -> Option<u64> {
    if let Some(asked_ms) = asked_ms {
        return (asked_ms <= timing.retry_after_ms_max).then_some(asked_ms);
    }
    let doubled = timing
        .backoff_ms
        .saturating_mul(1 << attempt.saturating_sub(1).min(16));
    let jitter = random.checked_rem(doubled / 2 + 1).unwrap_or(0);
    Some(
        doubled
            .saturating_add(jitter)
            .min(timing.retry_after_ms_max),
    )
}

/// A number that nobody can foresee, good enough to spread retries.
pub(crate) fn random_u64() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_obey() {
        let timing = Timing {
            backoff_ms: 100,
            retry_after_ms_max: 1000,
            ..Timing::default()
        };
        for (attempt, asked_ms, random, pause) in [
            (1, None, 0, Some(100)),
            (1, None, 50, Some(150)),
            (1, None, 51, Some(100)),
            (2, None, 0, Some(200)),
            (3, None, u64::MAX, Some(400 + u64::MAX % 201)),
            (9, None, 0, Some(1000)),
            (40, None, 7, Some(1000)),
            (1, Some(0), 77, Some(0)),
            (1, Some(1000), 0, Some(1000)),
            (1, Some(1001), 0, None),
        ] {
            assert_eq!(pause_ms(&timing, attempt, asked_ms, random), pause);
        }
        let at_once = Timing {
            backoff_ms: 0,
            ..timing
        };
        assert_eq!(pause_ms(&at_once, 2, None, 12345), Some(0));
    }
}
