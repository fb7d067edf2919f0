//! RFC 3339 to milliseconds, without a clock.

use protocol::At;
use toml::value::{Datetime, Offset};

/// Parses a time value; the error is the middle of a sentence.
pub(super) fn parse_time(value: &toml::Value) -> Result<At, String> {
    let time = match value {
        toml::Value::Datetime(time) => *time,
        toml::Value::String(text) => text
            .parse::<Datetime>()
            .map_err(|_| format!("`{text}` is not a time"))?,
        other => return Err(format!("a {} is not a time", other.type_str())),
    };
    let (Some(date), Some(clock), Some(offset)) = (time.date, time.time, time.offset) else {
        return Err(format!(
            "`{time}` says no date, time or offset, so it would mean another time elsewhere"
        ));
    };
    let offset_minutes = match offset {
        Offset::Z => 0,
        Offset::Custom { minutes } => i64::from(minutes),
    };
    let days = days_from_epoch(
        i64::from(date.year),
        i64::from(date.month),
        i64::from(date.day),
    );
    let minutes =
        (days * 24 + i64::from(clock.hour)) * 60 + i64::from(clock.minute) - offset_minutes;
    let seconds = i64::from(clock.second.unwrap_or_default());
    let millis = i64::from(clock.nanosecond.unwrap_or_default()) / 1_000_000;
    Ok((minutes * 60 + seconds) * 1000 + millis)
}

/// Days since 1970-01-01 in the Gregorian calendar: years are counted from March, so that the leap day comes last.
fn days_from_epoch(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        _ => (year, month - 3),
    };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leaps + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// Formats a time for a rules file.
pub(super) fn format_time(at: At) -> String {
    let (days, millis) = (at.div_euclid(86_400_000), at.rem_euclid(86_400_000));
    let (year, month, day) = date_from_days(days);
    let seconds = millis / 1000;
    let part = match millis % 1000 {
        0 => String::new(),
        part => format!(".{part:03}"),
    };
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}{part}Z",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

/// The inverse of [`days_from_epoch`], for the years that a rules file can hold.
fn date_from_days(days: i64) -> (i64, i64, i64) {
    let first = days_from_epoch(0, 1, 1);
    let last = days_from_epoch(9999, 12, 31);
    let days = days.clamp(first, last);
    // A year that is certainly not too early, then back to the one that holds the day.
    let mut year = ((days - first) / 365).min(9999);
    while days_from_epoch(year, 1, 1) > days {
        year -= 1;
    }
    let mut month = 12;
    while days_from_epoch(year, month, 1) > days {
        month -= 1;
    }
    (year, month, days - days_from_epoch(year, month, 1) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (text, millis) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00Z", 951_825_600_000),
            ("2026-12-01T00:00:00Z", 1_796_083_200_000),
            ("2026-12-01T01:00:00+01:00", 1_796_083_200_000),
            ("2026-12-01T00:00:00.250Z", 1_796_083_200_250),
            ("1969-12-31T23:59:59Z", -1000),
        ] {
            assert_eq!(
                parse_time(&toml::Value::String(text.into())),
                Ok(millis),
                "{text}"
            );
            let again = format_time(millis);
            assert_eq!(
                parse_time(&toml::Value::String(again)),
                Ok(millis),
                "{text}"
            );
        }
        for text in ["2026-12-01", "2026-12-01T00:00:00", "soon"] {
            assert!(
                parse_time(&toml::Value::String(text.into())).is_err(),
                "{text}"
            );
        }
        assert!(parse_time(&toml::Value::Integer(3)).is_err());
    }
}
