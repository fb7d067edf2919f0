//! Times in a rules file.

use protocol::At;
use protocol::text::timestamp::{format_timestamp, parse_timestamp};
use toml::value::Datetime;

/// Parses a time value; the error is the middle of a sentence.
pub(super) fn parse_time(value: &toml::Value) -> Result<At, String> {
    let time = match value {
        toml::Value::Datetime(time) => *time,
        toml::Value::String(text) => text
            .parse::<Datetime>()
            .map_err(|_| format!("`{text}` is not a time"))?,
        other => return Err(format!("a {} is not a time", other.type_str())),
    };
    if time.date.is_none() || time.time.is_none() || time.offset.is_none() {
        return Err(format!(
            "`{time}` says no date, time or offset, so it would mean another time elsewhere"
        ));
    }
    let written = time.to_string();
    parse_timestamp(&written).ok_or_else(|| format!("`{written}` is not a time"))
}

/// Formats a time for a rules file: with milliseconds only where it has some.
pub(super) fn format_time(at: At) -> String {
    format_timestamp(at).replace(".000Z", "Z")
}

#[cfg(test)]
mod tests {
    use protocol::text::timestamp::TIMESTAMP_MAX;

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
            ("9999-12-31T23:59:59Z", TIMESTAMP_MAX),
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

    /// A value that TOML would not let through is refused here as well: a rule never loses its end.
    #[test]
    fn a_time_that_does_not_exist_is_named() {
        let written: Datetime = "2026-02-28T00:00:00Z".parse().unwrap();
        let mut date = written.date.unwrap();
        date.day = 30;
        let time = Datetime {
            date: Some(date),
            ..written
        };
        assert_eq!(
            parse_time(&toml::Value::Datetime(time)),
            Err("`2026-02-30T00:00:00Z` is not a time".to_owned())
        );
    }
}
