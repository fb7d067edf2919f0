//! Tables: each column as wide as its widest cell, cut to the width of the terminal; and times and durations for people.
//!
//! Drawn here, because table crates bring borders and styles, and here every text is styled by [`OutputWriter`].

use protocol::At;
use protocol::text::display_text::format_count;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::exit::CliError;
use crate::output::{OutputWriter, TextStyle, escape_hidden};

/// Spaces between two columns.
const COLUMN_GAP: usize = 2;
/// Marks text that was cut.
const ELLIPSIS: &str = "…";

/// A text with its style.
pub(crate) struct TableCell {
    text: String,
    ink: TextStyle,
}

/// Returns a cell in one line, with its hidden characters named.
pub(crate) fn new_cell(ink: TextStyle, text: &str) -> TableCell {
    let text = escape_hidden(&text.replace(['\n', '\t'], " "));
    TableCell { text, ink }
}

/// Writes the rows. The last column is cut where a line would be wider than `width`; none to cut nothing.
pub(crate) fn write_rows(
    out: &mut OutputWriter,
    rows: &[Vec<TableCell>],
    width: Option<usize>,
) -> Result<(), CliError> {
    let lines = format_rows(out, rows, width);
    lines.iter().try_for_each(|line| out.write_line(line))
}

/// Formats the rows as lines without line ends.
fn format_rows(out: &OutputWriter, rows: &[Vec<TableCell>], width: Option<usize>) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.text.width()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    rows.iter()
        .map(|row| {
            let (mut line, mut used, mut pending) = (String::new(), 0, 0);
            for (cell, column) in row.iter().zip(&widths) {
                let room = width.map_or(usize::MAX, |width| width.saturating_sub(used + pending));
                let text = truncate_to_columns(&cell.text, room);
                line.push_str(&" ".repeat(pending));
                line.push_str(&out.apply_style(cell.ink, &text));
                used += pending + text.width();
                // Nothing stands behind the last cell, not even blanks.
                pending = column.saturating_sub(text.width()) + COLUMN_GAP;
            }
            line.trim_end().to_owned()
        })
        .collect()
}

/// Returns the width of the terminal of standard output; none if it is no terminal.
pub(crate) fn terminal_width() -> Option<usize> {
    use std::io::IsTerminal;
    if !std::io::stdout().is_terminal() {
        return None;
    }
    let (columns, _) = crossterm::terminal::size().ok()?;
    (columns > 0).then_some(usize::from(columns))
}

/// Cuts a text to at most `columns_max` columns.
fn truncate_to_columns(text: &str, columns_max: usize) -> String {
    if text.width() <= columns_max {
        return text.to_owned();
    }
    let (mut kept, mut used) = (String::new(), ELLIPSIS.width());
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > columns_max {
            break;
        }
        kept.push(c);
    }
    if columns_max > 0 {
        kept.push_str(ELLIPSIS);
    }
    kept
}

/// Formats the age of a time: `just now`, `5 minutes ago`, `3 days ago`.
pub(crate) fn format_age(at: At, now: At) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    let seconds = now.saturating_sub(at) / 1000;
    let (number, unit) = match seconds {
        ..MINUTE => return "just now".to_owned(),
        MINUTE..HOUR => (seconds / MINUTE, "minute"),
        HOUR..DAY => (seconds / HOUR, "hour"),
        DAY.. if seconds < 30 * DAY => (seconds / DAY, "day"),
        _ if seconds < 365 * DAY => (seconds / (30 * DAY), "month"),
        _ => (seconds / (365 * DAY), "year"),
    };
    format!("{} ago", format_count(number.unsigned_abs(), unit))
}

/// Formats how long something took: `4 ms`, `8.4 s`, `42 s`, `3 min 20 s`, `2 h 5 min`.
pub(crate) fn format_duration(ms: u64) -> String {
    let (seconds, minutes) = (ms / 1_000, ms / 60_000);
    match seconds {
        0 => format!("{ms} ms"),
        1..10 => format!("{seconds}.{} s", ms % 1_000 / 100),
        10..60 => format!("{seconds} s"),
        60..3_600 => format!("{minutes} min {} s", seconds % 60),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

/// Returns the current time, in milliseconds since the epoch.
pub(crate) fn current_time() -> At {
    jiff::Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ColorChoice;

    #[test]
    fn columns_stand_one_below_the_other() {
        let out = OutputWriter::for_stderr(ColorChoice::Never);
        let row = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| new_cell(TextStyle::Plain, text))
                .collect()
        };
        let rows = [
            row(&["a", "日本", "end"]),
            row(&["bcd", "x", "\u{202e}\nno"]),
        ];
        assert_eq!(
            format_rows(&out, &rows, None),
            ["a    日本  end", "bcd  x     U+202E no"]
        );
        assert_eq!(
            format_rows(&out, &rows, Some(14)),
            ["a    日本  end", "bcd  x     U+…"]
        );
        assert_eq!(format_rows(&out, &rows, Some(7)), ["a    …", "bcd  x"]);
    }

    #[test]
    fn durations_have_two_units_at_most() {
        for (ms, told) in [
            (0, "0 ms"),
            (999, "999 ms"),
            (8_450, "8.4 s"),
            (59_999, "59 s"),
            (200_000, "3 min 20 s"),
            (7_500_000, "2 h 5 min"),
        ] {
            assert_eq!(format_duration(ms), told);
        }
    }

    #[test]
    fn times_are_told_from_now() {
        const DAY: i64 = 86_400;
        for (seconds, told) in [
            (-5, "just now"),
            (59, "just now"),
            (60, "1 minute ago"),
            (3599, "59 minutes ago"),
            (7200, "2 hours ago"),
            (DAY, "1 day ago"),
            (29 * DAY, "29 days ago"),
            (60 * DAY, "2 months ago"),
            (800 * DAY, "2 years ago"),
        ] {
            assert_eq!(
                format_age(1_000_000_000_000 - seconds * 1000, 1_000_000_000_000),
                told
            );
        }
    }
}
