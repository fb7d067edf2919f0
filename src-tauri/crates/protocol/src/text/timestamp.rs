//! Points in time as RFC 3339 writes them.

use jiff::Timestamp;

use crate::At;

/// Last point in time that RFC 3339 can write, in every time zone.
pub const TIMESTAMP_MAX: At = 253_402_207_200_999;

/// Formats a point in time in UTC with milliseconds; one that RFC 3339 cannot write as the nearest that it can.
pub fn format_timestamp(at: At) -> String {
    let nearest = if at < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    };
    let stamp = Timestamp::from_millisecond(at).unwrap_or(nearest);
    format!("{stamp:.3}")
}

/// Parses a point in time with its offset; `None` if it is none, or lies behind [`TIMESTAMP_MAX`].
pub fn parse_timestamp(text: &str) -> Option<At> {
    let stamp: Timestamp = text.parse().ok()?;
    Some(stamp.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back_as_they_were_written() {
        assert_eq!(TIMESTAMP_MAX, Timestamp::MAX.as_millisecond());
        for (at, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (TIMESTAMP_MAX, "9999-12-30T22:00:00.999Z"),
        ] {
            assert_eq!(format_timestamp(at), text);
            assert_eq!(parse_timestamp(text), Some(at));
        }
        assert_eq!(format_timestamp(At::MAX), format_timestamp(TIMESTAMP_MAX));
        assert_eq!(parse_timestamp("2026-12-01T00:00:00"), None);
    }
}
