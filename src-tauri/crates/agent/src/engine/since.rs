//! Points in time that a person names as the beginning of what is asked for.

use protocol::{At, UserError};

/// Reads a day or an age before `now`, in the machine's time zone.
///
/// # Errors
/// The text is neither.
pub fn parse_since(text: &str, now: At) -> Result<At, UserError> {
    record::parse_local_time(text, now).ok_or_else(|| {
        let hint = "Name a day, such as 2026-05-01, or an age, such as 12h, 7d or 2w.";
        UserError::new(format!("`{text}` is no point in time."), hint)
    })
}
