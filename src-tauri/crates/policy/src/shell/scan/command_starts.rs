//! Reads a command from every place of a text where one may begin: no quote, bracket or here-document around the place
//! is trusted.

use std::collections::HashSet;

use crate::shell::facts::RedirectKind;
use crate::shell::parse::extent::{piece_len, split_at_parenthesis};
use crate::shell::parse::word;
use crate::shell::scan::unquoted;

/// After these a command may begin.
const COMMAND_SEPARATORS: [char; 9] = [';', '&', '|', '\n', '(', ')', '{', '}', '`'];
/// Limits of the bytes that are read of one command: the least and the most.
const COMMAND_BYTES_LIMITS: (usize, usize) = (256, 16 * 1024);

/// Cost of a place in bytes, beside the bytes that are read from it.
const START_COST_BYTES: usize = 32;

/// A possible command: its words as they are written, and their surroundings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(in crate::shell) struct CommandStart {
    pub words: Vec<String>,
    /// Values of variables, set in front of the command or by `for`.
    pub assignments: Vec<(String, String)>,
    pub redirects: Vec<(RedirectKind, String)>,
    /// Input of the command from here-strings.
    pub input: Vec<String>,
}

/// Finds the commands of a text. The bytes that are read are subtracted from `bytes_left`.
pub(in crate::shell) fn find_command_starts(
    text: &str,
    bytes_left: &mut usize,
) -> Vec<CommandStart> {
    let mut places = vec![0];
    places.extend(text.match_indices(COMMAND_SEPARATORS).map(|(at, _)| at + 1));
    let (least, most) = COMMAND_BYTES_LIMITS;
    let bytes_max = (*bytes_left / places.len()).clamp(least, most);
    let mut starts = Vec::new();
    let mut seen = HashSet::new();
    for place in places {
        let end = text.floor_char_boundary(place + bytes_max);
        let mut reading = StartScanner::new(&text[..place], &text[place..end]);
        reading.scan_command();
        let Some(left) = bytes_left.checked_sub(START_COST_BYTES + reading.at) else {
            *bytes_left = 0;
            break;
        };
        *bytes_left = left;
        for start in reading.found {
            if seen.insert(start.clone()) {
                starts.push(start);
            }
        }
    }
    starts
}

struct StartScanner<'t> {
    text: &'t str,
    at: usize,
    /// The text that ends a command that stands between backquotes.
    closing: Option<String>,
    start: CommandStart,
    word: Option<String>,
    redirect: Option<RedirectKind>,
    found: Vec<CommandStart>,
}

impl<'t> StartScanner<'t> {
    fn new(before: &str, text: &'t str) -> Self {
        let closing = before.strip_suffix('`').map(|before| {
            let escapes = before.len() - before.trim_end_matches('\\').len();
            format!("{}`", "\\".repeat(escapes))
        });
        Self {
            text,
            at: 0,
            closing,
            start: CommandStart::default(),
            word: None,
            redirect: None,
            found: Vec::new(),
        }
    }

    /// Reads up to where the command ends.
    fn scan_command(&mut self) {
        while let Some(c) = self.text[self.at..].chars().next() {
            let rest = &self.text[self.at..];
            if self
                .closing
                .as_ref()
                .is_some_and(|end| rest.starts_with(end))
            {
                break;
            }
            match c {
                '&' if rest.starts_with("&>") => self.scan_redirects(rest),
                ';' | '|' | '\n' | '(' | ')' | '&' => break,
                '#' if self.word.is_none() => break,
                '<' | '>' if rest[1..].starts_with('(') => {
                    let (_, length) = split_at_parenthesis(&rest[2..]);
                    self.take_bytes((2 + length).min(rest.len()));
                }
                '<' | '>' => self.scan_redirects(rest),
                '\\' if rest.starts_with("\\\n") => self.at += 2,
                _ if c.is_whitespace() => {
                    self.finish_word();
                    self.at += c.len_utf8();
                }
                '`' => {
                    // It may open a substitution, or close the one that the command stands in.
                    if self.found.is_empty() {
                        let (start, word) = (self.start.clone(), self.word.clone());
                        self.finish_command();
                        (self.start, self.word) = (start, word);
                    }
                    self.take_bytes(piece_len(rest));
                }
                _ => self.take_bytes(piece_len(rest)),
            }
        }
        self.finish_command();
    }

    fn take_bytes(&mut self, bytes: usize) {
        let text = &self.text[self.at..self.at + bytes];
        self.word.get_or_insert_default().push_str(text);
        self.at += bytes;
    }

    fn scan_redirects(&mut self, rest: &str) {
        // `2>` and `{name}>`: no word of the command.
        let is_stream = |word: &String| {
            word.bytes().all(|byte| byte.is_ascii_digit())
                || word.starts_with('{') && word.ends_with('}')
        };
        self.word = self.word.take().filter(|word| !is_stream(word));
        self.finish_word();
        let (operator, kind) = [
            ("<<<", RedirectKind::HereString),
            ("<<-", RedirectKind::HereDoc),
            ("<<", RedirectKind::HereDoc),
            ("<>", RedirectKind::ReadWrite),
            ("<&", RedirectKind::Duplicate),
            ("<", RedirectKind::Read),
            ("&>>", RedirectKind::Append),
            (">>", RedirectKind::Append),
            (">&", RedirectKind::Duplicate),
            ("&>", RedirectKind::Write),
            (">|", RedirectKind::Write),
        ]
        .into_iter()
        .find(|(operator, _)| rest.starts_with(operator))
        .unwrap_or((">", RedirectKind::Write));
        self.redirect = Some(kind);
        self.at += operator.len();
    }

    fn finish_word(&mut self) {
        let Some(raw) = self.word.take() else {
            return;
        };
        match self.redirect.take() {
            Some(RedirectKind::HereString) => {
                self.start.input.extend(word::parse_word(&raw).literal());
            }
            Some(kind) => self.start.redirects.push((kind, raw)),
            None => self.start.words.push(raw),
        }
    }

    /// Finishes a command: words in front of its program are removed.
    fn finish_command(&mut self) {
        self.finish_word();
        let mut start = std::mem::take(&mut self.start);
        let mut words = std::mem::take(&mut start.words).into_iter().peekable();
        while let Some(first) = words.peek() {
            if let Some((name, value)) = parse_assignment(first) {
                start.assignments.push((name.to_owned(), value.to_owned()));
            } else if matches!(first.as_str(), "for" | "select") {
                words.next();
                let name = words.next().unwrap_or_default();
                if words.next_if(|word| word == "in").is_some() {
                    let values = words.by_ref().map(|value| (name.clone(), value));
                    start.assignments.extend(values);
                }
                continue;
            } else if !unquoted::is_keyword(first) && !matches!(first.as_str(), "-p" | "--") {
                break;
            }
            words.next();
        }
        start.words = words.collect();
        if start != CommandStart::default() {
            self.found.push(start);
        }
    }
}

/// `name=value`, `name+=value`, `name[index]=value`
fn parse_assignment(word: &str) -> Option<(&str, &str)> {
    let (left, value) = word.split_once('=')?;
    let name = left.strip_suffix('+').unwrap_or(left);
    let name = match name.strip_suffix(']') {
        Some(name) => name.split('[').next().unwrap_or_default(),
        None => name,
    };
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some((name, value))
}
