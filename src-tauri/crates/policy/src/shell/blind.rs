//! Searches a text for what it may run without parsing it: the floor for a deny where the parsers fail.
//!
//! It is searched twice: with its quotes removed and split at every separator, and with its quotes read and split where
//! no quote stands. A list may name what would never run; none that would run is left out by spelling.

use std::mem::take;

use protocol::shown::is_hidden;

use super::ansi;

/// Words of the shell that do not name a program.
const KEYWORDS: [&str; 20] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "in", "function", "select", "{", "}", "!", "[[", "time",
];

/// Where a command may begin or end, if no quote stands around it.
const SEPARATORS: [char; 12] = [';', '&', '|', '\n', '(', ')', '{', '}', '`', '<', '>', '$'];

/// The word lists.
pub(super) fn scan(text: &str) -> Vec<Vec<String>> {
    let bare: String = text
        .chars()
        .filter(|c| !matches!(c, '\'' | '"' | '\\') && !is_hidden(*c))
        .collect();
    let split = bare.split(SEPARATORS).map(|piece| {
        piece
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    });
    let mut found: Vec<Vec<String>> = split.filter_map(named).collect();
    for words in Quoted::default().read(text).into_iter().filter_map(named) {
        if !found.contains(&words) {
            found.push(words);
        }
    }
    found
}

/// The words from the first that may name a program.
fn named(mut words: Vec<String>) -> Option<Vec<String>> {
    let start = words
        .iter()
        .position(|word| !word.contains('=') && !KEYWORDS.contains(&word.as_str()))?;
    Some(words.split_off(start))
}

/// Words with their quotes read, as far as the text has been read.
#[derive(Default)]
struct Quoted {
    lists: Vec<Vec<String>>,
    words: Vec<String>,
    /// The word that has begun; one that is only quotes is a word too.
    word: Option<String>,
}

impl Quoted {
    fn read(mut self, text: &str) -> Vec<Vec<String>> {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let after = &rest[first.len_utf8()..];
            rest = match first {
                '\'' => self.until_quote(after),
                '"' => self.double(after),
                '$' if after.starts_with('\'') => {
                    let (said, taken, _) = ansi::decode(&after[1..]);
                    self.grow(&said);
                    &after[1 + taken..]
                }
                '\\' => self.escaped(after),
                _ if SEPARATORS.contains(&first) => {
                    self.end_list();
                    after
                }
                _ if first.is_whitespace() => {
                    self.end_word();
                    after
                }
                _ => {
                    self.grow(&rest[..first.len_utf8()]);
                    after
                }
            };
        }
        self.end_list();
        self.lists
    }

    fn grow(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    fn until_quote<'t>(&mut self, rest: &'t str) -> &'t str {
        let (said, after) = rest.split_once('\'').unwrap_or((rest, ""));
        self.grow(said);
        after
    }

    /// What a double quote holds; expansions stay as they are written.
    fn double<'t>(&mut self, mut rest: &'t str) -> &'t str {
        self.grow("");
        while let Some(first) = rest.chars().next() {
            rest = &rest[first.len_utf8()..];
            match first {
                '"' => return rest,
                '\\' if rest.starts_with(['"', '\\', '$', '`', '\n']) => rest = self.escaped(rest),
                _ => self.grow(first.encode_utf8(&mut [0; 4])),
            }
        }
        rest
    }

    /// The character after a backslash; an escaped line end is nothing.
    fn escaped<'t>(&mut self, rest: &'t str) -> &'t str {
        let Some(first) = rest.chars().next() else {
            return rest;
        };
        let (said, after) = rest.split_at(first.len_utf8());
        if said != "\n" {
            self.grow(said);
        }
        after
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_list(&mut self) {
        self.end_word();
        self.lists.push(take(&mut self.words));
    }
}
