//! The lines of an entry's text around what was searched for, with the match marked.

use std::collections::HashMap;

use protocol::text::display_text::to_spans;
use protocol::view::search::{HitLine, HitPart};
use rusqlite::{Connection, Transaction, params};

use crate::limits::SNIPPET_LINE_CHARS_MAX;
use crate::{RecordError, open};

const MATCH_START: char = '\u{1}';
const MATCH_END: char = '\u{2}';
/// Characters of a long line that are kept before its first match.
const LEAD_CHARS: usize = 60;

/// Marks matches. It has a full-text index of its own, in memory, so that it marks exactly the matches that the index of
/// all entries finds, whatever its rules for letters are.
pub(crate) struct MatchMarker(Connection);

impl MatchMarker {
    pub(crate) fn new() -> Result<Self, RecordError> {
        let conn = open::open_marker_database()?;
        conn.execute_batch(
            "CREATE VIRTUAL TABLE hit USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2')",
        )?;
        Ok(Self(conn))
    }

    /// The keys of those texts that `words` are found in.
    pub(crate) fn find_matching_keys(
        &self,
        texts: impl IntoIterator<Item = (i64, String)>,
        words: &str,
    ) -> Result<Vec<i64>, RecordError> {
        let scratch = self.index_texts(texts)?;
        let mut select = scratch.prepare_cached("SELECT rowid FROM hit WHERE hit MATCH ?1")?;
        let keys = select.query_map([words], |row| row.get(0))?;
        Ok(keys.collect::<Result<_, _>>()?)
    }

    /// Those texts that `words` are found in, with their matches marked, by their keys.
    pub(crate) fn mark_matches(
        &self,
        texts: impl IntoIterator<Item = (i64, String)>,
        words: &str,
    ) -> Result<HashMap<i64, MarkedText>, RecordError> {
        let scratch = self.index_texts(texts)?;
        let mut select = scratch.prepare_cached(
            "SELECT rowid, highlight(hit, 0, char(1), char(2)) FROM hit WHERE hit MATCH ?1",
        )?;
        let marked = select.query_map([words], |row| Ok((row.get(0)?, MarkedText(row.get(1)?))))?;
        Ok(marked.collect::<Result<_, _>>()?)
    }

    /// Indexes texts by their keys, and nothing else, until the transaction ends. It is rolled back then: a commit would
    /// be work for nothing.
    fn index_texts(
        &self,
        texts: impl IntoIterator<Item = (i64, String)>,
    ) -> Result<Transaction<'_>, RecordError> {
        let scratch = self.0.unchecked_transaction()?;
        {
            let mut add =
                scratch.prepare_cached("INSERT INTO hit (rowid, text) VALUES (?1, ?2)")?;
            for (key, text) in texts {
                add.execute(params![key, text])?;
            }
        }
        Ok(scratch)
    }
}

/// A text with the matches marked in it.
pub(crate) struct MarkedText(String);

impl MarkedText {
    /// A text without a match.
    pub(crate) fn without_match(text: String) -> Self {
        Self(text)
    }

    /// The lines around the first match; without a match, the first lines after `skip`.
    pub(crate) fn snippet_lines(&self, skip: usize) -> Vec<HitLine> {
        let lines = split_marked_lines(&self.0);
        let is_match = |line: &Vec<HitPart>| line.iter().any(|part| part.matched);
        let blank = |line: &Vec<HitPart>| line.iter().all(|part| part.text.trim().is_empty());
        let first = lines.iter().position(is_match);
        let window = match first {
            Some(first) => first.saturating_sub(1)..(first + 2).min(lines.len()),
            None => skip.min(lines.len())..(skip + 2).min(lines.len()),
        };
        let start = window.start;
        lines[window]
            .iter()
            .enumerate()
            .filter(|(_, line)| !blank(line))
            .map(|(i, line)| HitLine {
                number: u32::try_from(start + i + 1).unwrap_or(u32::MAX),
                parts: cut_line(line),
            })
            .collect()
    }
}

/// A marked text in lines, each in stretches that matched or not.
fn split_marked_lines(marked: &str) -> Vec<Vec<HitPart>> {
    let mut matched = false;
    marked
        .split('\n')
        .map(|line| {
            let mut parts: Vec<HitPart> = Vec::new();
            for stretch in line
                .trim_end_matches('\r')
                .split_inclusive([MATCH_START, MATCH_END])
            {
                let text = stretch.trim_end_matches([MATCH_START, MATCH_END]);
                if !text.is_empty() {
                    parts.push(HitPart {
                        text: text.to_owned(),
                        matched,
                    });
                }
                if stretch.ends_with(MATCH_START) {
                    matched = true;
                } else if stretch.ends_with(MATCH_END) {
                    matched = false;
                }
            }
            parts
        })
        .collect()
}

/// A line within its limit, from a little before its first match; hidden characters are named.
fn cut_line(line: &[HitPart]) -> Vec<HitPart> {
    let length: usize = line.iter().map(|part| part.text.chars().count()).sum();
    let mut skip = 0;
    if length > SNIPPET_LINE_CHARS_MAX {
        let before = line.iter().take_while(|part| !part.matched);
        let first: usize = before.map(|part| part.text.chars().count()).sum();
        if first < length {
            skip = first.saturating_sub(LEAD_CHARS);
        }
    }
    let mut room = SNIPPET_LINE_CHARS_MAX;
    let mut parts = Vec::new();
    let mut position = 0;
    for part in line {
        let count = part.text.chars().count();
        let from = skip.saturating_sub(position).min(count);
        let text: String = part.text.chars().skip(from).take(room).collect();
        position += count;
        room -= text.chars().count();
        if !text.is_empty() {
            let named: String = to_spans(&text).into_iter().map(|span| span.text).collect();
            parts.push(HitPart {
                text: named,
                matched: part.matched,
            });
        }
    }
    let dots = |text: &str| HitPart {
        text: text.to_owned(),
        matched: false,
    };
    if skip > 0 {
        parts.insert(0, dots("…"));
    }
    if length > skip + SNIPPET_LINE_CHARS_MAX {
        parts.push(dots("…"));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as `number: text`, with matches in brackets.
    fn draw_lines(text: &str, words: Option<&str>, skip: usize) -> Vec<String> {
        let mut marked = HashMap::new();
        if let Some(words) = words {
            let marker = MatchMarker::new().unwrap();
            marked = marker.mark_matches([(7, text.to_owned())], words).unwrap();
        }
        let marked = marked.remove(&7);
        let lines = marked
            .unwrap_or_else(|| MarkedText::without_match(text.to_owned()))
            .snippet_lines(skip);
        let part = |part: &HitPart| match part.matched {
            true => format!("[{}]", part.text),
            false => part.text.clone(),
        };
        let line = |line: &HitLine| {
            let text: String = line.parts.iter().map(part).collect();
            format!("{}: {text}", line.number)
        };
        lines.iter().map(line).collect()
    }

    #[test]
    fn the_lines_around_the_first_match() {
        let text = "one\ntwo\nthree borrow\nfour\nfive borrowed";
        for (words, expected) in [
            (
                r#""borrow""#,
                vec!["2: two", "3: three [borrow]", "4: four"],
            ),
            (
                r#""FIVE" "borrow" *"#,
                vec!["2: two", "3: three [borrow]", "4: four"],
            ),
            (r#""one""#, vec!["1: [one]", "2: two"]),
            (r#""borrowed""#, vec!["4: four", "5: five [borrowed]"]),
            (
                r#""two three""#,
                vec!["1: one", "2: [two]", "3: [three] borrow"],
            ),
        ] {
            assert_eq!(draw_lines(text, Some(words), 0), expected, "{words}");
        }
        assert_eq!(draw_lines(text, None, 1), ["2: two", "3: three borrow"]);
        assert_eq!(
            draw_lines(text, Some(r#""absent""#), 0),
            ["1: one", "2: two"]
        );
        assert_eq!(draw_lines("", None, 1), Vec::<String>::new());
    }

    #[test]
    fn each_text_is_marked_by_itself() {
        let marker = MatchMarker::new().unwrap();
        let texts = [(1, "one borrow"), (2, "nothing"), (3, "borrow three")];
        let mut marked = marker
            .mark_matches(texts.map(|(key, text)| (key, text.to_owned())), "borrow")
            .unwrap();
        assert!(!marked.contains_key(&2));
        assert_eq!(marked.remove(&1).unwrap().0, "one \u{1}borrow\u{2}");
        assert_eq!(marked.remove(&3).unwrap().0, "\u{1}borrow\u{2} three");
        // Nothing of them is left for the next search.
        assert!(marker.find_matching_keys([], "borrow").unwrap().is_empty());
    }

    #[test]
    fn letters_are_compared_as_the_index_does() {
        assert_eq!(
            draw_lines("ein Fluß, Café", Some(r#""cafe""#), 0),
            ["1: ein Fluß, [Café]"]
        );
        assert_eq!(
            draw_lines("a\r\nb borrow\r\n", Some(r#""borrow""#), 0),
            ["1: a", "2: b [borrow]"]
        );
    }

    #[test]
    fn a_long_line_is_cut_around_its_match() {
        let text = format!("{} needle {}", "x".repeat(1000), "y".repeat(1000));
        let [line] = &draw_lines(&text, Some(r#""needle""#), 0)[..] else {
            panic!("one line");
        };
        assert!(line.starts_with("1: …xxx"), "{line}");
        assert!(
            line.contains("[needle] yyy") && line.ends_with("yyy…"),
            "{line}"
        );
        assert!(line.chars().count() < SNIPPET_LINE_CHARS_MAX + 10, "{line}");
    }

    #[test]
    fn hidden_characters_are_named() {
        assert_eq!(
            draw_lines("rm \u{202e}txt needle \u{1b}[2J", Some(r#""needle""#), 0),
            ["1: rm U+202Etxt [needle] U+001B[2J"]
        );
    }
}
