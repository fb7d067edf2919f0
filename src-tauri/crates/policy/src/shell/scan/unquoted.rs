//! Searches a text for commands that it may run without reading its quotes: the floor for a deny where nothing else is
//! sure.
//!
//! Every quote and backslash is removed, and every separator splits. A list may name a command that would never run.

use std::collections::HashSet;

use protocol::text::display_text::is_hidden;

/// Words of the shell that do not name a program.
const KEYWORDS: [&str; 20] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "in", "function", "select", "{", "}", "!", "[[", "time",
];

/// Where a command may begin or end.
const SEPARATORS: [char; 12] = [';', '&', '|', '\n', '(', ')', '{', '}', '`', '<', '>', '$'];

/// The word lists.
pub(in crate::shell) fn scan_unquoted(text: &str) -> Vec<Vec<String>> {
    let bare: String = text
        .chars()
        .filter(|c| !matches!(c, '\'' | '"' | '\\') && !is_hidden(*c))
        .collect();
    let mut pieces = Vec::new();
    let mut seen = HashSet::new();
    let mut redirects = false;
    for piece in bare.split_inclusive(SEPARATORS) {
        let words: Vec<&str> = piece
            .trim_end_matches(SEPARATORS)
            .split_whitespace()
            .collect();
        // Behind a redirect the first word is where it leads; the command may stand after that.
        let behind = words.get(1..).filter(|_| redirects);
        for words in [Some(words.as_slice()), behind].into_iter().flatten() {
            if let Some(words) = skip_to_program(words).filter(|words| seen.insert(words.to_vec()))
            {
                pieces.push(words.iter().map(|word| (*word).to_owned()).collect());
            }
        }
        // `2>&1`
        redirects = piece.ends_with(['<', '>']) || redirects && piece == "&";
    }
    pieces
}

/// Whether a word only says how commands belong together.
pub(in crate::shell) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// The words from the first that may name a program.
fn skip_to_program<'w, 't>(words: &'w [&'t str]) -> Option<&'w [&'t str]> {
    let start = words
        .iter()
        .position(|word| !word.contains('=') && !is_keyword(word))?;
    Some(&words[start..])
}
