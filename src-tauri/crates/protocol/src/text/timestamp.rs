//! Points in time as RFC 3339 writes them.

use jiff::Timestamp;
use jiff::civil::{Date, date};
use jiff::fmt::temporal::Pieces;

use crate::At;

/// Last point in time that RFC 3339 can write, in every time zone.
pub const TIMESTAMP_MAX: At = 253_402_207_200_999;

/// First day on which a point in time may lie behind [`TIMESTAMP_MAX`], by the offset that it is written with.
const FIRST_DAY_BEHIND_MAX: Date = date(9999, 12, 29);

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

/// Parses a point in time with its offset; `None` if it is none. One of the last days of the year 9999 that lies behind
/// [`TIMESTAMP_MAX`] is taken for that one.
pub fn parse_timestamp(text: &str) -> Option<At> {
    match text.parse::<Timestamp>() {
        Ok(stamp) => Some(stamp.as_millisecond()),
        Err(_) => is_behind_max(text).then_some(TIMESTAMP_MAX),
    }
}

/// Whether a text that is not read as a point in time is one all the same, and too late for that.
fn is_behind_max(text: &str) -> bool {
    Pieces::parse(text).is_ok_and(|pieces| {
        pieces.date() >= FIRST_DAY_BEHIND_MAX
            && pieces.time().is_some()
            && pieces.offset().is_some()
    })
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
    }

    #[test]
    fn only_the_last_days_stand_for_the_last_point_in_time() {
        for text in [
            "9999-12-30T22:00:01Z",
            "9999-12-31T23:59:59Z",
            "9999-12-29T22:59:59-23:59",
        ] {
            assert_eq!(parse_timestamp(text), Some(TIMESTAMP_MAX), "{text}");
        }
        for text in [
            "2026-12-01T00:00:00",
            "2026-02-30T00:00:00Z",
            "9999-12-31T25:00:00Z",
            "9999-12-32T00:00:00Z",
            "9999-12-31T23:59:59",
            "9999-12-31",
            "+010000-01-01T00:00:00Z",
            "-010000-01-01T00:00:00Z",
            "soon",
            "",
        ] {
            assert_eq!(parse_timestamp(text), None, "{text}");
        }
    }
}
