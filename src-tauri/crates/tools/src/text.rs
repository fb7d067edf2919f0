//! Decodes bytes as text, and formats numbers and texts for a person or a model.

use protocol::text::display_text::to_spans;

/// Bytes decoded as text, or the reason why they are not text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecodedText<'a> {
    /// UTF-8.
    Utf8(&'a str),
    /// Not text; the apparent format, such as "a PNG image".
    Binary(&'static str),
    /// Possibly text, but not UTF-8.
    NotUtf8 {
        /// Offset of the first byte that is not valid UTF-8.
        offset: usize,
        /// The apparent encoding: "UTF-16", or empty.
        looks_like: &'static str,
    },
}

/// Number of leading bytes in which a zero byte makes a file binary.
const SNIFFED_BYTES: usize = 8 * 1024;

/// Leading bytes that identify a format.
const BINARY_SIGNATURES: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program or library"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\0asm", "a WebAssembly module"),
];

/// Decodes the whole bytes.
pub fn decode(bytes: &[u8]) -> DecodedText<'_> {
    let zero = bytes.iter().take(SNIFFED_BYTES).any(|byte| *byte == 0);
    let error = match std::str::from_utf8(bytes) {
        Ok(text) if !zero => return DecodedText::Utf8(text),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    if let Some((_, name)) = BINARY_SIGNATURES
        .iter()
        .find(|(start, _)| bytes.starts_with(start))
    {
        return DecodedText::Binary(name);
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return DecodedText::NotUtf8 {
            offset: 0,
            looks_like: "UTF-16",
        };
    }
    match error {
        Some(error) if !zero => DecodedText::NotUtf8 {
            offset: error.valid_up_to(),
            looks_like: "",
        },
        _ => DecodedText::Binary("a binary file"),
    }
}

/// Returns the text on one line with every hidden character and line end named, for a place that holds only plain text.
pub fn escape_invisible(text: &str) -> String {
    to_spans(text)
        .into_iter()
        .map(|span| span.text.replace('\n', " ⏎ "))
        .collect()
}

/// Returns the offsets of all occurrences, including overlapping ones: "aa" occurs twice in "aaa", and which one is
/// meant is not clear.
pub(crate) fn find_overlapping(content: &str, old: &str) -> Vec<usize> {
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(offset) = content.get(from..).and_then(|rest| rest.find(old)) {
        places.push(from + offset);
        let step = content[from + offset..]
            .chars()
            .next()
            .map_or(1, char::len_utf8);
        from += offset + step;
    }
    places
}

/// Whether the text has line ends, and all of them are CRLF.
pub(crate) fn is_crlf_only(content: &str) -> bool {
    let mut lines = content
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .peekable();
    lines.peek().is_some() && lines.all(|line| line.ends_with("\r\n"))
}

/// Formats a size: "12 bytes", "6.8 kB", "1.3 MB".
pub fn format_byte_size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format_count(bytes, "byte", "bytes"),
        1_000..1_000_000 => format!("{}.{} kB", bytes / 1_000, bytes % 1_000 / 100),
        1_000_000..1_000_000_000 => {
            format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000)
        }
        _ => format!(
            "{}.{} GB",
            bytes / 1_000_000_000,
            bytes % 1_000_000_000 / 100_000_000
        ),
    }
}

/// Formats a count with its noun: "1 line", "2,310 lines".
pub fn format_count(count: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        group_digits(count),
        if count == 1 { one } else { many }
    )
}

/// Formats a number with separators: "2,310".
pub fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a text for one line of an error: quoted, with escaped line ends, cut after `chars_max` characters.
pub fn quote_truncated(text: &str, chars_max: usize) -> String {
    let mut short: String = text
        .chars()
        .take(chars_max)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(chars_max).is_some() {
        short.push('…');
    }
    format!("\"{}\"", short.replace("\\'", "'"))
}

/// Cuts a text to at most `chars_max` characters, with an ellipsis if it was cut.
pub fn truncate_chars(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Joins the first `shown_max` names, and says how many there are beyond them: "a, b and 3 more".
pub fn join_head(names: &[impl AsRef<str>], shown_max: usize) -> String {
    let shown: Vec<&str> = names.iter().take(shown_max).map(AsRef::as_ref).collect();
    let shown = shown.join(", ");
    match names.len().saturating_sub(shown_max) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_apart() {
        for (bytes, expected) in [
            (&b""[..], DecodedText::Utf8("")),
            ("grün\n".as_bytes(), DecodedText::Utf8("grün\n")),
            (b"a\0b", DecodedText::Binary("a binary file")),
            (b"\x89PNG\r\n\x1a\n\0\0", DecodedText::Binary("a PNG image")),
            (b"GIF8 is text here", DecodedText::Utf8("GIF8 is text here")),
            (
                b"gr\xfcn",
                DecodedText::NotUtf8 {
                    offset: 2,
                    looks_like: "",
                },
            ),
            (
                b"\xff\xfea\0",
                DecodedText::NotUtf8 {
                    offset: 0,
                    looks_like: "UTF-16",
                },
            ),
        ] {
            assert_eq!(decode(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn numbers_are_told_in_words() {
        assert_eq!(
            [0, 1, 999, 6_850, 1_300_000, 2_000_000_000].map(format_byte_size),
            [
                "0 bytes",
                "1 byte",
                "999 bytes",
                "6.8 kB",
                "1.3 MB",
                "2.0 GB"
            ]
        );
        assert_eq!(
            [1, 1_000, 12_345_678].map(group_digits),
            ["1", "1,000", "12,345,678"]
        );
        assert_eq!(quote_truncated("a\n\"b\"'c'", 4), r#""a\n\"b…""#);
        assert_eq!(truncate_chars("grün", 3), "grü…");
        assert_eq!(escape_invisible("a\nb\u{202e}"), "a ⏎ bU+202E");
    }
}
