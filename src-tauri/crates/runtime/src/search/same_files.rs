//! Finds a file of which only its name, its length, and its time are known.

use std::ffi::OsStr;

use tokio_util::sync::CancellationToken;

use super::walk::{EntryFilter, SearchRoot, VerifiedStat, walk_entries};
use crate::fs::workspace::{PathKind, PathUse};
use crate::{FileError, Workspace};

/// Nanoseconds in a millisecond.
const MS_NS: i64 = 1_000_000;

/// What is known of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileTraits<'a> {
    /// Its name, without its folder.
    pub name: &'a str,
    /// Its length, in bytes.
    pub bytes: u64,
    /// When it was last changed, in milliseconds since 1970.
    pub modified_ms: i64,
}

/// Finds the regular files of a workspace that have these traits, ignored ones too; at most `files_max`.
///
/// # Errors
/// Too many files, cancelled.
pub fn find_same_files(
    workspace: &Workspace,
    wanted: &FileTraits<'_>,
    files_max: usize,
    cancel: &CancellationToken,
) -> Result<Vec<String>, FileError> {
    let ground = SearchRoot::resolve_root(workspace, None, PathUse::List)?;
    let found = walk_entries(&ground, cancel, EntryFilter::All, None, |rel| {
        rel.file_name() == Some(OsStr::new(wanted.name))
            && !workspace.is_hidden(&ground.display_path(rel))
    })?;
    let mut standing = VerifiedStat::new(&ground);
    let is_same = |rel: &&std::path::PathBuf| {
        standing.stat(rel).is_some_and(|stat| {
            stat.kind == PathKind::File
                && stat.bytes == wanted.bytes
                && stat.mtime_ns.div_euclid(MS_NS) == wanted.modified_ms
        })
    };
    let same = found.iter().filter(is_same);
    Ok(same
        .map(|rel| ground.display_path(rel))
        .take(files_max)
        .collect())
}
