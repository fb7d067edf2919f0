//! Whoever knows a language: one way for all of them, from a place in a file to what is known of it.
//!
//! What a [`LanguageService`] answers is somebody else's word: where it leads is looked at by the tool that asked, and nothing is
//! written by whoever answers.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use protocol::ToolError;
use runtime::Workspace;
use tokio_util::sync::CancellationToken;

/// A file as it stands in the workspace when it is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceDocument {
    /// Where it really is, relative to the workspace root.
    pub path: String,
    /// All of it. It holds no line end but `\n` and `\r\n`.
    pub text: Arc<str>,
}

/// A place in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPosition {
    /// The line, from 0.
    pub line: usize,
    /// Bytes before it in its line.
    pub byte: usize,
}

/// What is asked about a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LanguageQuery {
    /// Where what stands here is defined.
    Definition(TextPosition),
    /// Where it is used, and where it is defined.
    References(TextPosition),
    /// What is wrong in the document.
    Diagnostics,
    /// What it defines.
    Symbols,
    /// What the whole workspace defines under a name like this one.
    Find(String),
    /// What would have to change for it to be called so.
    Rename(TextPosition, String),
}

/// How columns are counted by who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PositionEncoding {
    /// In bytes of UTF-8.
    Utf8,
    /// In units of UTF-16.
    #[default]
    Utf16,
    /// In characters.
    Utf32,
}

/// A line and a column as somebody else counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct EncodedPosition {
    /// The line, from 0.
    pub line: u32,
    /// The column, from 0, in units of an [`PositionEncoding`].
    pub unit: u32,
}

/// From a point to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct EncodedRange {
    /// Where it begins.
    pub start: EncodedPosition,
    /// Where it ends; what stands there is no part of it.
    pub end: EncodedPosition,
}

/// A place in some file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file, absolute; none where it is none of this machine's.
    pub file: Option<PathBuf>,
    /// Its address as it was given.
    pub address: String,
    /// Where in it.
    pub range: EncodedRange,
}

/// How bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It does not work so.
    Error,
    /// It may not be meant so.
    Warning,
    /// Something to know.
    Information,
    /// Something that could be better.
    Hint,
}

impl Severity {
    /// In one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Information => "information",
            Self::Hint => "hint",
        }
    }
}

/// Something that is wrong in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where.
    pub range: EncodedRange,
    /// How bad.
    pub severity: Severity,
    /// Its code or the rule that it breaks, if it has one.
    pub code: Option<String>,
    /// Who says so.
    pub source: Option<String>,
    /// What it is.
    pub message: String,
}

/// Something that has a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// What it is: "function".
    pub kind: String,
    /// What it is part of, where that is said.
    pub container: Option<String>,
    /// How deep it lies in others; 0 at the top.
    pub depth: usize,
    /// Where it is: all of it.
    pub location: SourceLocation,
}

/// Changes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdits {
    /// The file, absolute; none where it is none of this machine's.
    pub file: Option<PathBuf>,
    /// Its address as it was given.
    pub address: String,
    /// What is replaced, and by what.
    pub edits: Vec<(EncodedRange, String)>,
}

/// What is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LanguageResult {
    /// Places.
    Locations(Vec<SourceLocation>),
    /// What is wrong.
    Diagnostics(Vec<Diagnostic>),
    /// What there is.
    Symbols(Vec<Symbol>),
    /// What would have to change.
    Edits(Vec<FileEdits>),
}

/// An answer, and how it is to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageResponse {
    /// What is known.
    pub result: LanguageResult,
    /// How its columns are counted.
    pub encoding: PositionEncoding,
    /// Who says so.
    pub server: String,
    /// Whether they had not seen all of the workspace yet.
    pub loading: bool,
}

/// Somebody who knows languages.
#[async_trait]
pub trait LanguageService: Send + Sync {
    /// What has to be set up before anything can be asked, in a sentence with the next step; none if somebody is there.
    fn missing_setup(&self) -> Option<String>;

    /// Answers a question about a document of a workspace. Dropping it takes the question back.
    ///
    /// # Errors
    /// Nobody knows the language of the file, or whoever does gave no answer that could be used.
    async fn ask(
        &self,
        workspace: &Workspace,
        document: &SourceDocument,
        question: &LanguageQuery,
        cancel: &CancellationToken,
    ) -> Result<LanguageResponse, ToolError>;
}

impl PositionEncoding {
    /// The units before a byte of a line; the byte begins a character.
    pub fn units_before(self, line: &str, byte: usize) -> u32 {
        let before = line.get(..byte).unwrap_or(line);
        let units = match self {
            Self::Utf8 => before.len(),
            Self::Utf16 => before.encode_utf16().count(),
            Self::Utf32 => before.chars().count(),
        };
        u32::try_from(units).unwrap_or(u32::MAX)
    }

    /// The byte of a line that stands after so many units; none beyond the line's end or within a character.
    pub fn byte_offset(self, line: &str, units: u32) -> Option<usize> {
        let mut left = units as usize;
        for (at, c) in line.char_indices() {
            if left == 0 {
                return Some(at);
            }
            left = left.checked_sub(match self {
                Self::Utf8 => c.len_utf8(),
                Self::Utf16 => c.len_utf16(),
                Self::Utf32 => 1,
            })?;
        }
        (left == 0).then_some(line.len())
    }
}

/// The lines of a text, and where each begins.
#[derive(Debug)]
pub struct SourceLines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> SourceLines<'a> {
    /// Finds them.
    pub fn new(text: &'a str) -> Self {
        let after = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(after).collect();
        Self { text, starts }
    }

    /// How many there are; what follows the last line end is one, also where it is empty.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// A line by its number from 0, without its end; none if there is no such line.
    pub fn line(&self, number: usize) -> Option<&'a str> {
        let start = *self.starts.get(number)?;
        let end = self.starts.get(number + 1).copied();
        let line = self.text.get(start..end.unwrap_or(self.text.len()))?;
        let line = line.strip_suffix('\n').unwrap_or(line);
        Some(line.strip_suffix('\r').unwrap_or(line))
    }

    /// The byte of the text at a point; none if there is no such point.
    pub fn byte_offset(&self, point: EncodedPosition, encoding: PositionEncoding) -> Option<usize> {
        let number = point.line as usize;
        let within = encoding.byte_offset(self.line(number)?, point.unit)?;
        Some(self.starts.get(number)? + within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_three_ways() {
        let line = "a\u{e9}\u{1f600}z";
        for (encoding, units) in [
            (PositionEncoding::Utf8, [0, 1, 3, 7, 8]),
            (PositionEncoding::Utf16, [0, 1, 2, 4, 5]),
            (PositionEncoding::Utf32, [0, 1, 2, 3, 4]),
        ] {
            for (byte, units) in [0, 1, 3, 7, 8].into_iter().zip(units) {
                assert_eq!(
                    encoding.units_before(line, byte),
                    units,
                    "{encoding:?} {byte}"
                );
                assert_eq!(
                    encoding.byte_offset(line, units),
                    Some(byte),
                    "{encoding:?} {units}"
                );
            }
            assert_eq!(encoding.byte_offset(line, 9), None);
        }
        // Within a character there is no place.
        assert_eq!(PositionEncoding::Utf16.byte_offset(line, 3), None);
        assert_eq!(PositionEncoding::Utf8.byte_offset(line, 2), None);
    }

    #[test]
    fn a_text_ends_with_a_line_of_its_own() {
        let lines = SourceLines::new("one\r\ntwo\n");
        let all: Vec<_> = (0..4).map(|number| lines.line(number)).collect();
        assert_eq!(all, [Some("one"), Some("two"), Some(""), None]);
        let byte =
            |line, unit| lines.byte_offset(EncodedPosition { line, unit }, PositionEncoding::Utf16);
        assert_eq!(
            [byte(0, 3), byte(0, 4), byte(1, 0), byte(2, 0), byte(3, 0)],
            [Some(3), None, Some(5), Some(9), None]
        );
    }
}
