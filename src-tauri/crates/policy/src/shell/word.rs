//! Reads one word as it is written: what it literally says, or the parts that only the shell will know.

use super::extent::{backquoted, closed, inner_scripts, parenthesised};
use super::facts::Word;

/// A piece of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Text that stands for itself, quotes and backslashes removed.
    Text(String),
    /// Characters that the shell compares with file names: `*`, `?`, `[ab]`.
    Glob(String),
    /// The text of a command substitution.
    Run(String),
    /// A parameter: what stands between `${` and `}`, or after `$`.
    Parameter(String),
    /// An arithmetic expression.
    Arithmetic(String),
    /// A `~` that names somebody's home.
    Home(String),
}

/// A part, and whether it stands between quotes, where no blank splits it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub part: Part,
    pub quoted: bool,
}

/// A word, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReadWord {
    pub pieces: Vec<Piece>,
    /// Written without a quote or a backslash.
    pub bare: bool,
    /// A brace expansion may make several words of it.
    pub braces: bool,
    /// It ends within a quote or a substitution, or says what no text can hold.
    pub broken: bool,
    /// The end of a substitution or an expansion was not found: where the word ends is not known.
    pub endless: bool,
}

impl ReadWord {
    /// The text, if every piece of it stands for itself.
    pub fn literal(&self) -> Option<String> {
        if self.braces || self.broken {
            return None;
        }
        let mut text = String::new();
        for piece in &self.pieces {
            match &piece.part {
                Part::Text(said) => text.push_str(said),
                Part::Glob(_)
                | Part::Run(_)
                | Part::Parameter(_)
                | Part::Arithmetic(_)
                | Part::Home(_) => return None,
            }
        }
        Some(text)
    }

    /// The texts of the commands that run while the word is made.
    pub fn scripts(&self) -> Vec<String> {
        let mut found = Vec::new();
        for piece in &self.pieces {
            match &piece.part {
                Part::Run(text) => found.push(text.clone()),
                Part::Parameter(text) | Part::Arithmetic(text) => found.extend(inner_scripts(text)),
                Part::Text(_) | Part::Glob(_) | Part::Home(_) => {}
            }
        }
        found
    }
}

/// A word as rules look at it.
pub(super) fn decode(raw: &str, read: &ReadWord) -> Word {
    match read.literal() {
        Some(text) => Word::Literal(text),
        None => Word::Dynamic(raw.to_owned()),
    }
}

/// Reads a word as it stands on a command line.
pub(super) fn read(raw: &str) -> ReadWord {
    Reader::new(raw).word()
}

/// Reads the body of a here-document: as between double quotes, where a double quote stands for itself.
pub(super) fn read_document(raw: &str) -> ReadWord {
    let mut reader = Reader::new(raw);
    reader.quoted_until(None);
    reader.out
}

struct Reader<'a> {
    rest: &'a str,
    out: ReadWord,
    /// An `=` was seen, after which `~` names a home.
    assigned: bool,
}

impl<'a> Reader<'a> {
    fn new(raw: &'a str) -> Self {
        let out = ReadWord {
            pieces: Vec::new(),
            bare: true,
            braces: false,
            broken: false,
            endless: false,
        };
        Self {
            rest: raw,
            out,
            assigned: false,
        }
    }

    fn text(&mut self, said: &str, quoted: bool) {
        if let Some(Piece {
            part: Part::Text(text),
            quoted: before,
        }) = self.out.pieces.last_mut()
            && *before == quoted
        {
            text.push_str(said);
            return;
        }
        self.part(Part::Text(said.to_owned()), quoted);
    }

    fn part(&mut self, part: Part, quoted: bool) {
        self.out.pieces.push(Piece { part, quoted });
    }

    fn ends(&mut self, closed: bool) {
        self.out.broken |= !closed;
        self.out.endless |= !closed;
    }

    fn skip(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    fn word(mut self) -> ReadWord {
        let whole = self.rest;
        let last_bracket = whole.rfind(']').unwrap_or(0);
        let mut before = None;
        while let Some(c) = self.rest.chars().next() {
            match c {
                '\'' => self.single(),
                '"' => self.double(),
                '\\' => self.escape(),
                '$' | '`' => self.dollar(false),
                '~' if before.is_none() || self.assigned && matches!(before, Some('=' | ':')) => {
                    let end = self.rest.find('/').unwrap_or(self.rest.len());
                    let home = self.skip(end).to_owned();
                    self.part(Part::Home(home), false);
                }
                '*' | '?' => {
                    let glob = self.skip(1).to_owned();
                    self.part(Part::Glob(glob), false);
                }
                '[' if whole.len() - self.rest.len() < last_bracket => self.bracket(),
                '{' if self.out.braces || is_brace_expansion(self.rest) => {
                    self.out.braces = true;
                    self.skip(1);
                    self.text("{", false);
                }
                _ => {
                    self.assigned |= c == '=';
                    let said = self.skip(c.len_utf8());
                    self.text(said, false);
                }
            }
            before = Some(c);
        }
        self.out
    }

    fn single(&mut self) {
        self.out.bare = false;
        self.skip(1);
        match self.rest.find('\'') {
            Some(end) => {
                let said = self.skip(end);
                self.text(said, true);
                self.skip(1);
            }
            None => {
                let said = self.skip(usize::MAX);
                self.text(said, true);
                self.out.broken = true;
            }
        }
    }

    fn double(&mut self) {
        self.out.bare = false;
        self.skip(1);
        self.text("", true);
        self.quoted_until(Some('"'));
    }

    /// Between double quotes up to `end`, or in a here-document up to its end.
    fn quoted_until(&mut self, end: Option<char>) {
        loop {
            let Some(c) = self.rest.chars().next() else {
                self.out.broken |= end.is_some();
                return;
            };
            match c {
                _ if Some(c) == end => {
                    self.skip(1);
                    return;
                }
                '\\' => {
                    self.skip(1);
                    match self.rest.chars().next() {
                        Some('\n') => drop(self.skip(1)),
                        Some(next @ ('$' | '`' | '\\')) => {
                            self.skip(1);
                            self.text(next.encode_utf8(&mut [0; 4]), true);
                        }
                        Some('"') if end.is_some() => {
                            self.skip(1);
                            self.text("\"", true);
                        }
                        Some(_) | None => self.text("\\", true),
                    }
                }
                '$' | '`' => self.dollar(true),
                _ => {
                    let length = self
                        .rest
                        .find(|c| matches!(c, '\\' | '$' | '`') || Some(c) == end)
                        .unwrap_or(self.rest.len());
                    let said = self.skip(length);
                    self.text(said, true);
                }
            }
        }
    }

    fn escape(&mut self) {
        self.skip(1);
        match self.rest.chars().next() {
            // A backslash before the end of a line joins two lines and says nothing.
            Some('\n') => drop(self.skip(1)),
            Some(c) => {
                self.out.bare = false;
                let said = self.skip(c.len_utf8());
                self.text(said, true);
            }
            None => self.out.broken = true,
        }
    }

    fn bracket(&mut self) {
        let end = self.rest.find(']').map_or(self.rest.len(), |at| at + 1);
        // A quote in it says that it is no more than what it looks like; the shell still compares.
        let simple = !self.rest[..end].contains(['\'', '"', '\\', '$', '`']);
        let taken = self.skip(if simple { end } else { 1 }).to_owned();
        self.part(Part::Glob(taken), false);
    }

    /// What begins with `$` or a back quote.
    fn dollar(&mut self, quoted: bool) {
        if self.rest.starts_with('`') {
            self.skip(1);
            let (inner, length) = backquoted(self.rest);
            self.ends(length <= self.rest.len());
            self.skip(length);
            return self.part(Part::Run(inner), quoted);
        }
        let after = &self.rest[1..];
        let mut chars = after.chars();
        match chars.next() {
            Some('(') => {
                let (inner, length) = parenthesised(&after[1..]);
                self.ends(length < after.len());
                let arithmetic = inner.strip_prefix('(').and_then(|x| x.strip_suffix(')'));
                self.skip(2 + length);
                match arithmetic {
                    // `$((a) | (b))` looks like arithmetic and is a command: it is read as both.
                    Some(sum) => {
                        if sum.contains(')') {
                            self.part(Part::Run(inner.to_owned()), quoted);
                        }
                        self.part(Part::Arithmetic(sum.to_owned()), quoted);
                    }
                    None => self.part(Part::Run(inner.to_owned()), quoted),
                }
            }
            Some('{') => {
                let (inner, length) = closed(&after[1..], '{', '}', quoted);
                self.ends(length < after.len());
                self.skip(2 + length);
                self.part(Part::Parameter(inner.to_owned()), quoted);
            }
            Some('[') => {
                let (inner, length) = closed(&after[1..], '[', ']', quoted);
                self.ends(length < after.len());
                self.skip(2 + length);
                self.part(Part::Arithmetic(inner.to_owned()), quoted);
            }
            Some('\'') if !quoted => self.ansi(),
            Some('"') if !quoted => {
                // A translated string: what it says is in a file of another place.
                self.skip(1);
                self.part(Part::Parameter(String::new()), true);
                self.double();
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let length = after
                    .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                    .unwrap_or(after.len());
                let name = after[..length].to_owned();
                self.skip(1 + length);
                self.part(Part::Parameter(name), quoted);
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.skip(2);
                self.part(Part::Parameter(c.to_string()), quoted);
            }
            Some(_) | None => {
                self.skip(1);
                self.text("$", quoted);
            }
        }
    }

    /// `$'…'`: the escapes of C.
    fn ansi(&mut self) {
        self.out.bare = false;
        self.skip(2);
        let (said, length, ok) = super::ansi::decode(self.rest);
        self.skip(length);
        self.out.broken |= !ok;
        self.text(&said, true);
    }
}

/// Whether the brace that a text begins with may make several words of it.
fn is_brace_expansion(rest: &str) -> bool {
    let (inner, length) = closed(&rest[1..], '{', '}', false);
    length < rest.len() && (inner.contains(',') || inner.contains(".."))
}
