//! Checks of a source's settings that servers and services share.

use std::ops::RangeInclusive;

use crate::config_table::ConfigTableError;
use crate::limits::{VALUE_BYTES_MAX, VALUES_MAX};

/// Rejects settings for a problem at a key of their table; see [`ConfigTableError::new`].
///
/// # Errors
/// Always.
pub fn reject<T>(
    key: &'static str,
    what: impl Into<String>,
    hint: &str,
) -> Result<T, ConfigTableError> {
    Err(ConfigTableError::new(key, what, hint))
}

/// Checks the time limit of a source, in milliseconds.
///
/// # Errors
/// The time limit is out of range.
pub fn check_timeout(
    timeout_ms: u32,
    allowed: &RangeInclusive<u32>,
) -> Result<(), ConfigTableError> {
    if allowed.contains(&timeout_ms) {
        return Ok(());
    }
    let what = format!(
        "its time limit is {timeout_ms} ms, and may be 1 to {}",
        allowed.end()
    );
    reject("timeout_ms", what, "Set `timeout_ms`, or leave it out.")
}

/// Checks that a source has no more values than it may have, and none that is too long. `kinds` names the kinds of
/// values that are counted.
///
/// # Errors
/// There are too many values, or one is too long.
pub fn check_values(values: &[&str], count: usize, kinds: &str) -> Result<(), ConfigTableError> {
    if count > VALUES_MAX {
        let what = format!("it has more than {VALUES_MAX} {kinds}");
        return reject("", what, "Leave some of them out.");
    }
    match values.iter().find(|value| value.len() > VALUE_BYTES_MAX) {
        None => Ok(()),
        Some(long) => {
            let what = format!("a value is {} bytes long", long.len());
            reject("", what, "Shorten it.")
        }
    }
}
