//! The query that a person types into the search box, parsed; parts that cannot be understood are named.

use jiff::tz::TimeZone;
use protocol::{At, CallState, ToolMode, UserError};

use crate::limits::{QUERY_BYTES_MAX, QUERY_PARTS_MAX};
use crate::projections::columns::{ALL_MODES, ALL_STATES};
use crate::search::time_filter;

/// A search, understood. Every condition must hold; of several values for one filter, one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ParsedQuery {
    /// Words, phrases and prefixes as the full-text index wants them; none to find by filters alone.
    pub(crate) words: Option<String>,
    /// Tool ids in lower case; a `*` at the end stands for any rest.
    pub(crate) tools: Vec<String>,
    /// Modes.
    pub(crate) modes: Vec<ToolMode>,
    /// States.
    pub(crate) states: Vec<CallState>,
    /// Ids or words of titles, in lower case.
    pub(crate) sessions: Vec<String>,
    /// Parts of paths, in lower case.
    pub(crate) paths: Vec<String>,
    /// Only what began earlier.
    pub(crate) before: Option<At>,
    /// Only what began at this time or later.
    pub(crate) after: Option<At>,
}

const FILTER_KEYS: [&str; 7] = [
    "tool", "mode", "state", "session", "path", "before", "after",
];

/// Understands a search text. Anything is either understood or named in the fault; nothing of it reaches the database
/// as a statement.
pub(crate) fn parse_query(text: &str, now: At, zone: &TimeZone) -> Result<ParsedQuery, UserError> {
    if text.len() > QUERY_BYTES_MAX {
        return Err(UserError::new(
            format!("This search is longer than {QUERY_BYTES_MAX} bytes."),
            "Search for fewer words.",
        ));
    }
    let text = text.replace('\0', " ");
    let mut search = ParsedQuery::default();
    let mut terms: Vec<String> = Vec::new();
    let mut without_letters = None;
    let mut filters = 0;
    for (count, part) in split_parts(&text)?.into_iter().enumerate() {
        if count >= QUERY_PARTS_MAX {
            return Err(UserError::new(
                format!("This search has more than {QUERY_PARTS_MAX} words."),
                "Search for fewer words.",
            ));
        }
        match part {
            QueryPart::Filter { key, value } => {
                filters += 1;
                search.add_filter(key, value, now, zone)?;
            }
            QueryPart::Words { words, prefix } => {
                if words.chars().any(char::is_alphanumeric) {
                    let star = if prefix { " *" } else { "" };
                    terms.push(format!("\"{words}\"{star}"));
                } else {
                    without_letters = Some(words);
                }
            }
        }
    }
    if !terms.is_empty() {
        search.words = Some(terms.join(" "));
    } else if let (Some(words), 0) = (without_letters, filters) {
        return Err(UserError::new(
            format!("There is nothing to search for in “{words}”."),
            "Only words with letters or digits can be found.",
        ));
    }
    Ok(search)
}

/// One word, phrase or filter.
#[derive(Debug, PartialEq)]
enum QueryPart<'a> {
    Words { words: &'a str, prefix: bool },
    Filter { key: &'static str, value: &'a str },
}

fn split_parts(text: &str) -> Result<Vec<QueryPart<'_>>, UserError> {
    let mut parts = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('"') {
            let (words, after) = split_phrase(inner)?;
            let star = after.strip_prefix('*');
            rest = star.unwrap_or(after).trim_start();
            let prefix = star.is_some();
            parts.push(QueryPart::Words { words, prefix });
            continue;
        }
        let end = rest
            .find(|c: char| c.is_whitespace() || c == '"')
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        rest = after.trim_start();
        let named = word.split_once(':').and_then(|(key, value)| {
            let key = FILTER_KEYS
                .into_iter()
                .find(|k| k.eq_ignore_ascii_case(key))?;
            Some((key, value))
        });
        parts.push(match named {
            Some((key, "")) if after.starts_with('"') => {
                let (value, after) = split_phrase(&after[1..])?;
                rest = after.trim_start();
                QueryPart::Filter { key, value }
            }
            Some((key, value)) => QueryPart::Filter { key, value },
            None => {
                let stem = word.strip_suffix('*');
                let prefix = stem.is_some_and(|stem| !stem.is_empty());
                let words = stem.filter(|stem| !stem.is_empty()).unwrap_or(word);
                QueryPart::Words { words, prefix }
            }
        });
    }
    Ok(parts)
}

/// The text up to the closing quote, and what follows it.
fn split_phrase(inner: &str) -> Result<(&str, &str), UserError> {
    inner.split_once('"').ok_or_else(|| {
        UserError::new(
            format!("The quote before “{inner}” is never closed."),
            "Add a \" at the end of the phrase.",
        )
    })
}

impl ParsedQuery {
    fn add_filter(
        &mut self,
        key: &'static str,
        value: &str,
        now: At,
        zone: &TimeZone,
    ) -> Result<(), UserError> {
        let value = value.trim();
        if value.is_empty() {
            return Err(UserError::new(
                format!("The filter {key}: has no value."),
                filter_hint(key),
            ));
        }
        let lower = value.to_lowercase();
        let unknown = || UserError::new(format!("{key}:{value} is not known."), filter_hint(key));
        match key {
            "tool" => self.tools.push(lower),
            "session" => self.sessions.push(lower),
            "path" => self.paths.push(lower),
            "mode" => {
                let name = lower.replace('-', "_");
                let mode = ALL_MODES.into_iter().find(|mode| mode.as_str() == name);
                self.modes.push(mode.ok_or_else(unknown)?);
            }
            "state" => {
                let state = ALL_STATES.into_iter().find(|state| state.as_str() == lower);
                self.states.push(state.ok_or_else(unknown)?);
            }
            "before" => {
                let at = time_filter::parse_time(&lower, now, zone).ok_or_else(unknown)?;
                self.before = Some(self.before.map_or(at, |before| before.min(at)));
            }
            "after" => {
                let at = time_filter::parse_time(&lower, now, zone).ok_or_else(unknown)?;
                self.after = Some(self.after.map_or(at, |after| after.max(at)));
            }
            _ => return Err(unknown()),
        }
        Ok(())
    }
}

fn filter_hint(key: &str) -> String {
    match key {
        "tool" => {
            "Name a tool, such as tool:bash, or the beginning of one, such as tool:web*.".into()
        }
        "mode" => format!(
            "It is one of {}.",
            ALL_MODES.map(ToolMode::as_str).join(", ")
        ),
        "state" => format!(
            "It is one of {}.",
            ALL_STATES.map(CallState::as_str).join(", ")
        ),
        "session" => {
            "Give a session's id or a word of its title, such as session:\"flaky test\".".into()
        }
        "path" => "Give a path or a part of one, such as path:src/main.rs.".into(),
        _ => "Give a day, such as 2026-05-01, or an age, such as 2d, 3h, 30m or 1w.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_query(text: &str) -> Result<ParsedQuery, String> {
        parse_query(text, 10 * 86_400_000, &TimeZone::UTC).map_err(|fault| fault.message)
    }

    fn words_query(words: &str) -> ParsedQuery {
        ParsedQuery {
            words: Some(words.to_owned()),
            ..ParsedQuery::default()
        }
    }

    #[test]
    fn words_phrases_and_prefixes() {
        for (text, expected) in [
            ("borrow", r#""borrow""#),
            ("  two   words ", r#""two" "words""#),
            (r#""as mutable" x"#, r#""as mutable" "x""#),
            ("borrow*", r#""borrow" *"#),
            (r#""as mut"*"#, r#""as mut" *"#),
            (r#"a"b c"d"#, r#""a" "b c" "d""#),
            ("std::fs", r#""std::fs""#),
            ("https://x.org/y?z", r#""https://x.org/y?z""#),
            ("error: a -> b", r#""error:" "a" "b""#),
            (
                "NOT a OR b AND NEAR(c)",
                r#""NOT" "a" "OR" "b" "AND" "NEAR(c)""#,
            ),
            ("a*b", r#""a*b""#),
            ("nul\0byte", r#""nul" "byte""#),
        ] {
            assert_eq!(read_query(text), Ok(words_query(expected)), "{text}");
        }
        assert_eq!(read_query(""), Ok(ParsedQuery::default()));
        assert_eq!(read_query("   "), Ok(ParsedQuery::default()));
    }

    #[test]
    fn filters() {
        let search = read_query(
            r#"tool:Bash TOOL:web* mode:safe-write state:failed state:done session:"Flaky WAL" path:src/ borrow* after:3d after:1970-01-03 before:1970-01-09"#,
        );
        assert_eq!(
            search,
            Ok(ParsedQuery {
                words: Some(r#""borrow" *"#.into()),
                tools: vec!["bash".into(), "web*".into()],
                modes: vec![ToolMode::SafeWrite],
                states: vec![CallState::Failed, CallState::Done],
                sessions: vec!["flaky wal".into()],
                paths: vec!["src/".into()],
                before: Some(8 * 86_400_000),
                after: Some(7 * 86_400_000),
            })
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        let long = "x".repeat(QUERY_BYTES_MAX + 1);
        let many = "x ".repeat(QUERY_PARTS_MAX + 1);
        for (text, named) in [
            (r#"a "never closed"#, "“never closed”"),
            (r#"session:"never"#, "“never”"),
            ("state:bogus", "state:bogus"),
            ("mode:", "mode:"),
            (r#"path:"""#, "path:"),
            ("before:yesterday", "before:yesterday"),
            ("after:2026-13-01", "after:2026-13-01"),
            ("->", "“->”"),
            ("*", "“*”"),
            (r#""""#, "nothing to search for"),
            (long.as_str(), "4096"),
            (many.as_str(), "64"),
        ] {
            let message = read_query(text).unwrap_err();
            assert!(message.contains(named), "{text} gave {message}");
        }
    }
}
