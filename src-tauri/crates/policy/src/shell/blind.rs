//! Searches a text for what it may run without reading it: the floor for a deny where the parsers fail.
//!
//! Quotes and backslashes are removed and every separator splits, so a list may name what would never run; none that
//! would run is left out by spelling. It takes one pass, whatever the text.

use protocol::shown::is_hidden;

/// Words of the shell that do not name a program.
const KEYWORDS: [&str; 20] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "in", "function", "select", "{", "}", "!", "[[", "time",
];

/// The word lists.
pub(super) fn scan(text: &str) -> Vec<Vec<String>> {
    let bare: String = text
        .chars()
        .filter(|c| !matches!(c, '\'' | '"' | '\\') && !is_hidden(*c))
        .collect();
    let mut found = Vec::new();
    for piece in bare.split([';', '&', '|', '\n', '(', ')', '{', '}', '`', '<', '>', '$']) {
        let words: Vec<&str> = piece.split_whitespace().collect();
        let start = words
            .iter()
            .position(|word| !word.contains('=') && !KEYWORDS.contains(word));
        if let Some(start) = start {
            found.push(
                words[start..]
                    .iter()
                    .map(|word| (*word).to_owned())
                    .collect(),
            );
        }
    }
    found
}
