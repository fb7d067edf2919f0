//! Finds files by name.

use globset::{GlobBuilder, GlobMatcher};
use tokio_util::sync::CancellationToken;

use super::walk::{Ground, Standing, files};
use crate::files::{PathKind, Use, joined};
use crate::{FileError, Workspace};

/// Files found by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobFound {
    /// Relative to the workspace root with `/`, sorted by path; absolute in a readable folder outside.
    pub paths: Vec<String>,
    /// Whether there are more than the limit.
    pub more: bool,
}

/// Files and links whose path below `under` fits `pattern`: `*` and `?` stay within a folder, `**` does not, `{a,b}` is
/// either. `.gitignore` is honoured, hidden files are found, `.git` is not. A folder that is named is looked into even
/// where it is ignored.
///
/// # Errors
/// A bad pattern, a folder that is outside or missing, too many files, cancelled.
pub fn glob(
    workspace: &Workspace,
    pattern: &str,
    under: Option<&str>,
    entries_max: usize,
    cancel: &CancellationToken,
) -> Result<GlobFound, FileError> {
    let ground = Ground::of(workspace, under, Use::List)?;
    if ground.kind != PathKind::Folder {
        return Err(FileError::NotAFolder {
            path: under.unwrap_or(".").to_owned(),
        });
    }
    // A pattern may name the folder that it looks in by its absolute path.
    let start = joined(&ground.root.path, &ground.rel);
    let rest = pattern
        .strip_prefix(&*start.to_string_lossy())
        .and_then(|rest| rest.strip_prefix('/'))
        .or_else(|| pattern.strip_prefix("./"))
        .unwrap_or(pattern);
    let matcher = matcher(pattern, rest)?;
    let found = files(&ground, cancel, true, |rel| {
        rel.strip_prefix(&ground.rel)
            .is_ok_and(|below| matcher.is_match(below))
            && !workspace.hides(&ground.shown(rel))
    })?;
    let mut standing = Standing::below(&ground);
    let mut found = found.iter().filter(|rel| standing.holds(rel));
    let paths = found.by_ref().take(entries_max);
    Ok(GlobFound {
        paths: paths.map(|rel| ground.shown(rel)).collect(),
        more: found.next().is_some(),
    })
}

/// A matcher for the part of `pattern` that is left; errors name the pattern as it was given.
pub(super) fn matcher(pattern: &str, rest: &str) -> Result<GlobMatcher, FileError> {
    GlobBuilder::new(rest)
        .literal_separator(true)
        .empty_alternates(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| FileError::Pattern {
            pattern: pattern.to_owned(),
            reason: error.kind().to_string(),
        })
}
