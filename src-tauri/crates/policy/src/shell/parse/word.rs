//! Parses one word as it is written: its literal text, or the parts that only the shell will know.

use crate::shell::facts::ShellWord;
use crate::shell::parse::extent::{
    find_substitutions, split_at_backquote, split_at_bracket, split_at_parenthesis,
};

/// A piece of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::shell) enum WordPart {
    /// Text that stands for itself, quotes and backslashes removed.
    Text(String),
    /// Characters that the shell compares with file names: `*`, `?`, `[ab]`.
    Glob(String),
    /// The text of a command substitution.
    Run(String),
    /// A parameter: the text between `${` and `}`, or after `$`.
    Parameter(String),
    /// An arithmetic expression.
    Arithmetic(String),
    /// A `~` that names somebody's home.
    Home(String),
}

/// A part, and whether it stands between quotes, where no blank splits it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::shell) struct WordPiece {
    pub part: WordPart,
    pub quoted: bool,
}

/// A word, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::shell) struct ParsedWord {
    pub pieces: Vec<WordPiece>,
    /// Written without a quote or a backslash.
    pub is_bare: bool,
    /// Whether a brace expansion may make several words of the word.
    pub has_braces: bool,
    /// Whether the word ends within a quote or a substitution, or holds bytes that no text can hold.
    pub is_broken: bool,
    /// The end of a substitution or an expansion was not found: where the word ends is not known.
    pub is_unterminated: bool,
}

impl ParsedWord {
    /// The text, if every piece of it stands for itself.
    pub fn literal(&self) -> Option<String> {
        if self.has_braces || self.is_broken {
            return None;
        }
        let mut text = String::new();
        for piece in &self.pieces {
            match &piece.part {
                WordPart::Text(said) => text.push_str(said),
                WordPart::Glob(_)
                | WordPart::Run(_)
                | WordPart::Parameter(_)
                | WordPart::Arithmetic(_)
                | WordPart::Home(_) => return None,
            }
        }
        Some(text)
    }

    /// The texts of the commands that run while the word is made.
    pub fn scripts(&self) -> Vec<String> {
        let mut scripts = Vec::new();
        for piece in &self.pieces {
            match &piece.part {
                WordPart::Run(text) => scripts.push(text.clone()),
                WordPart::Parameter(text) | WordPart::Arithmetic(text) => {
                    scripts.extend(find_substitutions(text))
                }
                WordPart::Text(_) | WordPart::Glob(_) | WordPart::Home(_) => {}
            }
        }
        scripts
    }
}

/// A word as rules look at it.
pub(in crate::shell) fn to_shell_word(raw: &str, read: &ParsedWord) -> ShellWord {
    match read.literal() {
        Some(text) => ShellWord::Literal(text),
        None => ShellWord::Dynamic(raw.to_owned()),
    }
}

/// Reads a word as it stands on a command line, as rules look at it.
pub(in crate::shell) fn parse_shell_word(raw: &str) -> ShellWord {
    to_shell_word(raw, &parse_word(raw))
}

/// Reads the words of a command, as rules look at them.
pub(in crate::shell) fn parse_shell_words(raw: &[String]) -> Vec<ShellWord> {
    raw.iter().map(|raw| parse_shell_word(raw)).collect()
}

/// Reads a word as it stands on a command line.
pub(in crate::shell) fn parse_word(raw: &str) -> ParsedWord {
    WordParser::new(raw).parse_all()
}

/// Reads the body of a here-document: as between double quotes, where a double quote stands for itself.
pub(in crate::shell) fn parse_document(raw: &str) -> ParsedWord {
    let mut reader = WordParser::new(raw);
    reader.parse_quoted_until(None);
    reader.out
}

struct WordParser<'a> {
    rest: &'a str,
    out: ParsedWord,
    /// An `=` was seen, after which `~` names a home.
    assigned: bool,
}

impl<'a> WordParser<'a> {
    fn new(raw: &'a str) -> Self {
        let out = ParsedWord {
            pieces: Vec::new(),
            is_bare: true,
            has_braces: false,
            is_broken: false,
            is_unterminated: false,
        };
        Self {
            rest: raw,
            out,
            assigned: false,
        }
    }

    fn push_text(&mut self, literal: &str, quoted: bool) {
        if let Some(WordPiece {
            part: WordPart::Text(text),
            quoted: before,
        }) = self.out.pieces.last_mut()
            && *before == quoted
        {
            text.push_str(literal);
            return;
        }
        self.push_part(WordPart::Text(literal.to_owned()), quoted);
    }

    fn push_part(&mut self, part: WordPart, quoted: bool) {
        self.out.pieces.push(WordPiece { part, quoted });
    }

    fn mark_closed(&mut self, closed: bool) {
        self.out.is_broken |= !closed;
        self.out.is_unterminated |= !closed;
    }

    fn take_bytes(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    fn parse_all(mut self) -> ParsedWord {
        let source = self.rest;
        let last_bracket = source.rfind(']').unwrap_or(0);
        let mut before = None;
        while let Some(c) = self.rest.chars().next() {
            match c {
                '\'' => self.parse_single_quotes(),
                '"' => self.parse_double_quotes(),
                '\\' => self.parse_escape(),
                '$' | '`' => self.parse_dollar(false),
                '~' if before.is_none() || self.assigned && matches!(before, Some('=' | ':')) => {
                    let end = self.rest.find('/').unwrap_or(self.rest.len());
                    let home = self.take_bytes(end).to_owned();
                    self.push_part(WordPart::Home(home), false);
                }
                '*' | '?' => {
                    let glob = self.take_bytes(1).to_owned();
                    self.push_part(WordPart::Glob(glob), false);
                }
                '[' if source.len() - self.rest.len() < last_bracket => self.parse_bracket(),
                '{' if self.out.has_braces || is_brace_expansion(self.rest) => {
                    self.out.has_braces = true;
                    self.take_bytes(1);
                    self.push_text("{", false);
                }
                _ => {
                    self.assigned |= c == '=';
                    let text = self.take_bytes(c.len_utf8());
                    self.push_text(text, false);
                }
            }
            before = Some(c);
        }
        self.out
    }

    fn parse_single_quotes(&mut self) {
        self.out.is_bare = false;
        self.take_bytes(1);
        match self.rest.find('\'') {
            Some(end) => {
                let text = self.take_bytes(end);
                self.push_text(text, true);
                self.take_bytes(1);
            }
            None => {
                let text = self.take_bytes(usize::MAX);
                self.push_text(text, true);
                self.out.is_broken = true;
            }
        }
    }

    fn parse_double_quotes(&mut self) {
        self.out.is_bare = false;
        self.take_bytes(1);
        self.push_text("", true);
        self.parse_quoted_until(Some('"'));
    }

    /// Between double quotes up to `end`, or in a here-document up to its end.
    fn parse_quoted_until(&mut self, end: Option<char>) {
        loop {
            let Some(c) = self.rest.chars().next() else {
                self.out.is_broken |= end.is_some();
                return;
            };
            match c {
                _ if Some(c) == end => {
                    self.take_bytes(1);
                    return;
                }
                '\\' => {
                    self.take_bytes(1);
                    match self.rest.chars().next() {
                        Some('\n') => drop(self.take_bytes(1)),
                        Some(next @ ('$' | '`' | '\\')) => {
                            self.take_bytes(1);
                            self.push_text(next.encode_utf8(&mut [0; 4]), true);
                        }
                        Some('"') if end.is_some() => {
                            self.take_bytes(1);
                            self.push_text("\"", true);
                        }
                        Some(_) | None => self.push_text("\\", true),
                    }
                }
                '$' | '`' => self.parse_dollar(true),
                _ => {
                    let length = self
                        .rest
                        .find(|c| matches!(c, '\\' | '$' | '`') || Some(c) == end)
                        .unwrap_or(self.rest.len());
                    let text = self.take_bytes(length);
                    self.push_text(text, true);
                }
            }
        }
    }

    fn parse_escape(&mut self) {
        self.take_bytes(1);
        match self.rest.chars().next() {
            // A backslash before the end of a line joins two lines and says nothing.
            Some('\n') => drop(self.take_bytes(1)),
            Some(c) => {
                self.out.is_bare = false;
                let text = self.take_bytes(c.len_utf8());
                self.push_text(text, true);
            }
            None => self.out.is_broken = true,
        }
    }

    fn parse_bracket(&mut self) {
        let end = self.rest.find(']').map_or(self.rest.len(), |at| at + 1);
        // A quote in it says that it is no more than what it looks like; the shell still compares.
        let simple = !self.rest[..end].contains(['\'', '"', '\\', '$', '`']);
        let glob = self.take_bytes(if simple { end } else { 1 }).to_owned();
        self.push_part(WordPart::Glob(glob), false);
    }

    /// Parses a part of a word that begins with `$` or a backquote.
    fn parse_dollar(&mut self, quoted: bool) {
        if self.rest.starts_with('`') {
            self.take_bytes(1);
            let (inner, length) = split_at_backquote(self.rest);
            self.mark_closed(length <= self.rest.len());
            self.take_bytes(length);
            return self.push_part(WordPart::Run(inner), quoted);
        }
        let after = &self.rest[1..];
        let mut chars = after.chars();
        match chars.next() {
            Some('(') => {
                let (inner, length) = split_at_parenthesis(&after[1..]);
                self.mark_closed(length < after.len());
                let arithmetic = inner.strip_prefix('(').and_then(|x| x.strip_suffix(')'));
                self.take_bytes(2 + length);
                match arithmetic {
                    // `$((a) | (b))` looks like arithmetic and is a command: it is read as both.
                    Some(sum) => {
                        if sum.contains(')') {
                            self.push_part(WordPart::Run(inner.to_owned()), quoted);
                        }
                        self.push_part(WordPart::Arithmetic(sum.to_owned()), quoted);
                    }
                    None => self.push_part(WordPart::Run(inner.to_owned()), quoted),
                }
            }
            Some('{') => {
                let (inner, length) = split_at_bracket(&after[1..], '{', '}', quoted);
                self.mark_closed(length < after.len());
                self.take_bytes(2 + length);
                self.push_part(WordPart::Parameter(inner.to_owned()), quoted);
            }
            Some('[') => {
                let (inner, length) = split_at_bracket(&after[1..], '[', ']', quoted);
                self.mark_closed(length < after.len());
                self.take_bytes(2 + length);
                self.push_part(WordPart::Arithmetic(inner.to_owned()), quoted);
            }
            Some('\'') if !quoted => self.parse_ansi_quote(),
            Some('"') if !quoted => {
                // A translated string: what it says is in a file of another place.
                self.take_bytes(1);
                self.push_part(WordPart::Parameter(String::new()), true);
                self.parse_double_quotes();
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let length = after
                    .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                    .unwrap_or(after.len());
                let name = after[..length].to_owned();
                self.take_bytes(1 + length);
                self.push_part(WordPart::Parameter(name), quoted);
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.take_bytes(2);
                self.push_part(WordPart::Parameter(c.to_string()), quoted);
            }
            Some(_) | None => {
                self.take_bytes(1);
                self.push_text("$", quoted);
            }
        }
    }

    /// `$'…'`: the escapes of C.
    fn parse_ansi_quote(&mut self) {
        self.out.is_bare = false;
        self.take_bytes(2);
        let (said, length, ok) = crate::shell::parse::ansi_quote::decode_ansi_quote(self.rest);
        self.take_bytes(length);
        self.out.is_broken |= !ok;
        self.push_text(&said, true);
    }
}

/// Whether the brace that a text begins with may make several words of it.
fn is_brace_expansion(rest: &str) -> bool {
    let (inner, length) = split_at_bracket(&rest[1..], '{', '}', false);
    length < rest.len() && (inner.contains(',') || inner.contains(".."))
}
