//! Language services: a single interface from a query about a document to the answer.
//!
//! The answers of a [`LanguageService`] come from third parties: the tool that asked checks where they lead, and the
//! service writes nothing itself.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use protocol::ToolError;
use runtime::Workspace;
use tokio_util::sync::CancellationToken;

/// A file with the content that it has in the workspace at the time of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceDocument {
    /// Real path of the file, relative to the workspace root.
    pub path: String,
    /// Whole content of the file. Its only line ends are `\n` and `\r\n`.
    pub text: Arc<str>,
}

/// A position in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPosition {
    /// The line, from 0.
    pub line: usize,
    /// Number of bytes before the position in its line.
    pub byte: usize,
}

/// A query about a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LanguageQuery {
    /// Definitions of the symbol at a position.
    Definition(TextPosition),
    /// Uses and definitions of the symbol at a position.
    References(TextPosition),
    /// Problems in the document.
    Diagnostics,
    /// Symbols that the document defines.
    Symbols,
    /// Symbols that the whole workspace defines under a name similar to this one.
    Find(String),
    /// Changes needed to rename the symbol at a position to this name.
    Rename(TextPosition, String),
}

/// Unit in which a server counts columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PositionEncoding {
    /// Bytes of UTF-8.
    Utf8,
    /// Code units of UTF-16.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

/// A line and a column as the server counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct EncodedPosition {
    /// The line, from 0.
    pub line: u32,
    /// The column, from 0, in units of a [`PositionEncoding`].
    pub unit: u32,
}

/// A range between two positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct EncodedRange {
    /// Beginning of the range.
    pub start: EncodedPosition,
    /// End of the range, exclusive.
    pub end: EncodedPosition,
}

/// A range in some file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLocation {
    /// Absolute path of the file; `None` if the address is not a file on this machine.
    pub file: Option<PathBuf>,
    /// Address of the file as the server gave it.
    pub address: String,
    /// Range in the file.
    pub range: EncodedRange,
}

/// Severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The code does not work.
    Error,
    /// The code may not do what is meant.
    Warning,
    /// A piece of information.
    Information,
    /// A suggestion for an improvement.
    Hint,
}

impl Severity {
    /// Returns the severity as one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Information => "information",
            Self::Hint => "hint",
        }
    }
}

/// A problem in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Range of the problem.
    pub range: EncodedRange,
    /// Severity of the problem.
    pub severity: Severity,
    /// Code of the problem or the rule that the code violates, if there is one.
    pub code: Option<String>,
    /// Name of the program that reports the problem.
    pub source: Option<String>,
    /// Description of the problem.
    pub message: String,
}

/// A named symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Name of the symbol.
    pub name: String,
    /// Kind of the symbol: "function".
    pub kind: String,
    /// Name of the symbol that contains this one, where the server says so.
    pub container: Option<String>,
    /// Nesting depth in other symbols; 0 at the top.
    pub depth: usize,
    /// Location of the whole symbol.
    pub location: SourceLocation,
}

/// Edits of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdits {
    /// Absolute path of the file; `None` if the address is not a file on this machine.
    pub file: Option<PathBuf>,
    /// Address of the file as the server gave it.
    pub address: String,
    /// Ranges to replace, each with the new text.
    pub edits: Vec<(EncodedRange, String)>,
}

/// The result of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LanguageResult {
    /// Locations.
    Locations(Vec<SourceLocation>),
    /// Problems.
    Diagnostics(Vec<Diagnostic>),
    /// Symbols.
    Symbols(Vec<Symbol>),
    /// Edits to make.
    Edits(Vec<FileEdits>),
}

/// The response of a server, with the encoding of its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanguageResponse {
    /// The result.
    pub result: LanguageResult,
    /// Unit in which columns are counted.
    pub encoding: PositionEncoding,
    /// Name of the server that answered.
    pub server: String,
    /// Whether the server had not loaded the whole workspace yet.
    pub loading: bool,
}

/// A service that answers queries about documents.
#[async_trait]
pub trait LanguageService: Send + Sync {
    /// Returns how to set up the service, in a sentence with the next step; `None` if a server is available.
    fn missing_setup(&self) -> Option<String>;

    /// Answers a query about a document of a workspace. Dropping the future cancels the query.
    ///
    /// # Errors
    /// If no server knows the language of the file, or the server gave no usable answer.
    async fn ask(
        &self,
        workspace: &Workspace,
        document: &SourceDocument,
        question: &LanguageQuery,
        cancel: &CancellationToken,
    ) -> Result<LanguageResponse, ToolError>;
}

impl PositionEncoding {
    /// Returns the number of units before a byte of a line; the byte must begin a character.
    pub fn units_before(self, line: &str, byte: usize) -> u32 {
        let before = line.get(..byte).unwrap_or(line);
        let units = match self {
            Self::Utf8 => before.len(),
            Self::Utf16 => before.encode_utf16().count(),
            Self::Utf32 => before.chars().count(),
        };
        u32::try_from(units).unwrap_or(u32::MAX)
    }

    /// Returns the byte offset in a line after that many units; `None` beyond the line's end or within a character.
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

/// The lines of a text, with the offset at which each begins.
#[derive(Debug)]
pub struct SourceLines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> SourceLines<'a> {
    /// Splits the text into lines.
    pub fn new(text: &'a str) -> Self {
        let after = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(after).collect();
        Self { text, starts }
    }

    /// Returns the number of lines; the text after the last line end counts as a line, even if it is empty.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// Returns a line by its number from 0, without its line end; `None` if there is no such line.
    pub fn line(&self, number: usize) -> Option<&'a str> {
        let start = *self.starts.get(number)?;
        let end = self.starts.get(number + 1).copied();
        let line = self.text.get(start..end.unwrap_or(self.text.len()))?;
        let line = line.strip_suffix('\n').unwrap_or(line);
        Some(line.strip_suffix('\r').unwrap_or(line))
    }

    /// Returns the byte offset in the text of a point; `None` if there is no such point.
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
