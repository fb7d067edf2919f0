//! Points in time as a person types them: a day, or how long ago.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use protocol::At;

/// Reads a point in time in the machine's time zone, as the filters `before:` and `after:` of a search do: `2026-05-01`,
/// or `2d` for two days before `now`. None if it is neither.
pub fn parse_local_time(text: &str, now: At) -> Option<At> {
    parse_time(text, now, &TimeZone::system())
}

/// Returns the beginning of the day of `now` in the machine's time zone. None if the calendar does not have it.
pub fn find_local_midnight(now: At) -> Option<At> {
    find_midnight(now, &TimeZone::system())
}

fn find_midnight(now: At, zone: &TimeZone) -> Option<At> {
    let now = Timestamp::from_millisecond(now).ok()?;
    let midnight = now.to_zoned(zone.clone()).start_of_day().ok()?;
    Some(midnight.timestamp().as_millisecond())
}

/// Reads `2026-05-01` as the beginning of that day in the zone, and `2d`, `3h`, `30m` or `1w` as so long before `now`.
/// None if it is neither.
pub(crate) fn parse_time(text: &str, now: At, zone: &TimeZone) -> Option<At> {
    if let Some((count, unit_ms)) = parse_age(text) {
        return now.checked_sub(count.checked_mul(unit_ms)?);
    }
    // Only the plain form: what else the library reads (times, zones) is not promised here.
    let plain = text.len() == 10 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    let date: Date = plain.then(|| text.parse().ok()).flatten()?;
    let midnight = date.to_zoned(zone.clone()).ok()?;
    Some(midnight.timestamp().as_millisecond())
}

/// Parses a number with its unit. The library for times would read `P2D` and `1h 30m` too, which are not promised here.
fn parse_age(text: &str) -> Option<(i64, i64)> {
    let unit = text.chars().last()?;
    let unit_ms = match unit {
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        'w' => 7 * 86_400_000,
        _ => return None,
    };
    let count = &text[..text.len() - unit.len_utf8()];
    let digits = !count.is_empty() && count.bytes().all(|b| b.is_ascii_digit());
    Some((digits.then(|| count.parse().ok()).flatten()?, unit_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight_of_its_zone() {
        let now = 1_777_636_800_000; // 2026-05-01 12:00 UTC
        let hours = |hours: i64| Some(now - hours * 3_600_000);
        let berlin = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(find_midnight(now, &TimeZone::UTC), hours(12));
        assert_eq!(find_midnight(now, &berlin), hours(14));
    }

    #[test]
    fn days_and_ages() {
        let now = 1_777_636_800_000; // 2026-05-01 12:00 UTC
        let noon = 12 * 3_600_000;
        let berlin = TimeZone::fixed(jiff::tz::offset(2));
        for (text, zone, expected) in [
            ("2026-05-01", &TimeZone::UTC, Some(now - noon)),
            ("2026-05-01", &berlin, Some(now - noon - 2 * 3_600_000)),
            ("1970-01-01", &TimeZone::UTC, Some(0)),
            ("2d", &TimeZone::UTC, Some(now - 2 * 86_400_000)),
            ("3h", &TimeZone::UTC, Some(now - 3 * 3_600_000)),
            ("30m", &TimeZone::UTC, Some(now - 30 * 60_000)),
            ("1w", &TimeZone::UTC, Some(now - 7 * 86_400_000)),
            ("2026-02-30", &TimeZone::UTC, None),
            ("2026-5-1", &TimeZone::UTC, None),
            ("yesterday", &TimeZone::UTC, None),
            ("d", &TimeZone::UTC, None),
            ("-2d", &TimeZone::UTC, None),
            ("99999999999999999999d", &TimeZone::UTC, None),
            ("9223372036854775807w", &TimeZone::UTC, None),
            ("2ä", &TimeZone::UTC, None),
            ("", &TimeZone::UTC, None),
        ] {
            assert_eq!(parse_time(text, now, zone), expected, "{text}");
        }
    }
}
