//! Finds files by name.

use globset::{GlobBuilder, GlobMatcher};
use tokio_util::sync::CancellationToken;

use super::walk::{EntryFilter, SearchRoot, VerifiedStat, walk_entries};
use crate::fs::workspace::{PathKind, PathUse, join_path};
use crate::{FileError, Workspace};

/// Which entries a pattern is compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GlobInclude {
    /// Files and links that `.gitignore` does not name.
    #[default]
    Files,
    /// Files, links and folders, whether `.gitignore` names them or not.
    Everything,
}

/// A search by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GlobQuery<'a> {
    /// `*` and `?` stay within a folder, `**` does not, `{a,b}` is either.
    pub pattern: &'a str,
    /// The folder to look in; the whole workspace where none is named.
    pub under: Option<&'a str>,
    /// Which names are compared.
    pub include: GlobInclude,
    /// At most this many are returned.
    pub entries_max: usize,
}

impl<'a> GlobQuery<'a> {
    /// Files of the whole workspace by their names, at most `entries_max`.
    pub fn files_matching(pattern: &'a str, entries_max: usize) -> Self {
        Self {
            pattern,
            under: None,
            include: GlobInclude::Files,
            entries_max,
        }
    }
}

/// Files found by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobResult {
    /// Relative to the workspace root with `/`, sorted by path; absolute in a readable folder outside. A folder ends in `/`.
    pub paths: Vec<String>,
    /// Whether there are more than the limit.
    pub more: bool,
}

/// Finds entries whose path below `under` matches the pattern. Hidden files are found, `.git` is not. A folder that is
/// named is searched even where it is ignored.
///
/// # Errors
/// A bad pattern, a folder that is outside or missing, too many files, cancelled.
pub fn find_files(
    workspace: &Workspace,
    query: &GlobQuery<'_>,
    cancel: &CancellationToken,
) -> Result<GlobResult, FileError> {
    let GlobQuery { pattern, under, .. } = *query;
    let ground = SearchRoot::resolve_root(workspace, under, PathUse::List)?;
    if ground.kind != PathKind::Folder {
        return Err(FileError::NotAFolder {
            path: under.unwrap_or(".").to_owned(),
        });
    }
    // A pattern may name the folder that it looks in by its absolute path.
    let start = join_path(&ground.root.path, &ground.rel);
    let rest = pattern
        .strip_prefix(&*start.to_string_lossy())
        .and_then(|rest| rest.strip_prefix('/'))
        .or_else(|| pattern.strip_prefix("./"))
        .unwrap_or(pattern);
    let matcher = build_matcher(pattern, rest)?;
    let entries = match query.include {
        GlobInclude::Files => EntryFilter::FilesAndLinks,
        GlobInclude::Everything => EntryFilter::All,
    };
    let paths = walk_entries(&ground, cancel, entries, pattern_depth_max(rest), |rel| {
        rel.strip_prefix(&ground.rel)
            .is_ok_and(|below| matcher.is_match(below))
            && !workspace.is_hidden(&ground.display_path(rel))
    })?;
    let mut standing = VerifiedStat::new(&ground);
    let mut paths = paths.iter().filter_map(|rel| {
        let stat = standing.stat(rel)?;
        let mut path = ground.display_path(rel);
        if stat.kind == PathKind::Folder {
            path.push('/');
        }
        Some(path)
    });
    Ok(GlobResult {
        paths: paths.by_ref().take(query.entries_max).collect(),
        more: paths.next().is_some(),
    })
}

/// Returns how many folders deep a pattern can match; `None` if it can match at any depth.
fn pattern_depth_max(pattern: &str) -> Option<usize> {
    (!pattern.contains("**")).then(|| pattern.matches('/').count() + 1)
}

/// Builds a matcher for the part of `pattern` that is left; errors name the pattern as it was given.
pub(super) fn build_matcher(pattern: &str, rest: &str) -> Result<GlobMatcher, FileError> {
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
