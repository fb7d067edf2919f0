//! Finds files by name and lines by pattern, with the engine of ripgrep.

use tokio_util::sync::CancellationToken;

use crate::{FileError, Workspace};

/// Files found by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobFound {
    /// Relative to the workspace root with `/`, sorted by path.
    pub paths: Vec<String>,
    /// Whether there are more than the limit.
    pub more: bool,
}

/// What to look for in files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GrepQuery {
    /// A regular expression of the `regex` crate.
    pub pattern: String,
    /// A file or folder to look in; the whole workspace if left out.
    pub under: Option<String>,
    /// Only files whose name fits, as in ripgrep's `-g`: `*.rs` fits at any depth.
    pub include: Option<String>,
    /// Whether case does not matter.
    pub case_insensitive: bool,
    /// Lines shown before and after each match.
    pub context: usize,
}

/// One matching line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepMatch {
    /// Relative to the workspace root with `/`.
    pub path: String,
    /// From 1.
    pub line: u64,
    /// The line without its end; bytes that are not UTF-8 are replaced, a very long line is cut.
    pub text: String,
    /// Lines before it, at most the context; a line that an earlier match shows is not repeated.
    pub before: Vec<String>,
    /// Lines after it.
    pub after: Vec<String>,
}

/// Lines found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepFound {
    /// Sorted by path and line.
    pub matches: Vec<GrepMatch>,
    /// Files in which they stand.
    pub files: usize,
    /// Whether there are more than the limit.
    pub more: bool,
}

/// Files whose path fits `pattern`: `*` stays within a folder, `**` does not; `.gitignore` is honoured.
///
/// # Errors
/// A bad pattern, a folder that is outside or missing, cancelled.
pub fn glob(
    workspace: &Workspace,
    pattern: &str,
    under: Option<&str>,
    entries_max: usize,
    cancel: &CancellationToken,
) -> Result<GlobFound, FileError> {
    let _ = (workspace, under, entries_max, cancel);
    Err(FileError::other(pattern, "not built yet"))
}

/// Lines that match; binary files are left out, `.gitignore` is honoured.
///
/// # Errors
/// A bad pattern, a folder that is outside or missing, cancelled.
pub fn grep(
    workspace: &Workspace,
    query: &GrepQuery,
    matches_max: usize,
    cancel: &CancellationToken,
) -> Result<GrepFound, FileError> {
    let _ = (workspace, matches_max, cancel);
    Err(FileError::other(query.pattern.as_str(), "not built yet"))
}
