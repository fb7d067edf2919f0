//! Renders foreign text as rows that cannot be mistaken for our own: hidden characters are named, and each row stands
//! behind a bar, also where a long line continues.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::output::escape_hidden;

/// Width of a tab, in columns.
const TAB_COLUMNS: usize = 4;
/// Minimum width that text is wrapped to, in columns, however narrow the terminal is.
const COLUMNS_MIN: usize = 20;

/// Wraps a text to rows of `columns` columns, each without its bar.
pub(super) fn wrap_untrusted(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(COLUMNS_MIN);
    let mut rows = Vec::new();
    for line in escape_hidden(text).split('\n') {
        let (mut row, mut used) = (String::new(), 0);
        for c in line.chars() {
            let (text, width) = match c {
                '\t' => (" ".repeat(TAB_COLUMNS), TAB_COLUMNS),
                c => (c.to_string(), c.width().unwrap_or(0)),
            };
            if used + width > columns {
                rows.push(std::mem::take(&mut row));
                used = 0;
            }
            row.push_str(&text);
            used += width;
        }
        rows.push(row);
    }
    rows
}

/// Wraps a sentence of ours to rows that end between words.
pub(super) fn wrap_words(text: &str, columns: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    for word in text.split(' ') {
        let used = rows.last().map_or(0, |row| row.width());
        match rows.last_mut() {
            Some(row) if used == 0 => row.push_str(word),
            Some(row) if used + 1 + word.width() <= columns.max(COLUMNS_MIN) => {
                row.push(' ');
                row.push_str(word);
            }
            _ => rows.push(word.to_owned()),
        }
    }
    rows
}

/// Returns a text as one row: line ends and hidden characters are named or marked.
pub(super) fn escape_to_one_line(text: &str) -> String {
    escape_hidden(&text.replace("\r\n", "\n"))
        .replace('\n', "⏎")
        .replace('\t', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_is_wider_than_the_terminal_and_nothing_is_hidden() {
        for (text, expected) in [
            ("a\nb", vec!["a", "b"]),
            ("", vec![""]),
            (
                "0123456789012345678901234",
                vec!["01234567890123456789", "01234"],
            ),
            ("日本日本日本日本日本日", vec!["日本日本日本日本日本", "日"]),
            ("\u{1b}[2J\u{202e}x\ty", vec!["U+001B[2JU+202Ex    ", "y"]),
            ("a\r\nb\rc", vec!["a", "bU+000Dc"]),
        ] {
            assert_eq!(wrap_untrusted(text, 20), expected, "{text:?}");
        }
        let words = wrap_words("one two three four five", 20);
        assert_eq!(words, ["one two three four", "five"]);
        assert_eq!(escape_to_one_line("a\n\u{1b}b"), "a⏎U+001Bb");
    }
}
