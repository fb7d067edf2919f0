//! Lists the files below a folder with their sizes.

use tokio_util::sync::CancellationToken;

use super::walk::{EntryFilter, SearchRoot, VerifiedStat, walk_entries};
use crate::fs::workspace::{PathKind, PathUse, display_path};
use crate::{FileError, Workspace};

/// A regular file and its length.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSize {
    /// Relative to the folder that was looked in, with `/`.
    pub path: String,
    /// Its length, in bytes.
    pub bytes: u64,
}

/// The regular files below a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSizes {
    /// Sorted by path.
    pub files: Vec<FileSize>,
    /// Whether there are more than the limit.
    pub more: bool,
}

/// Lists the regular files below `under` as [`crate::find_files`] finds them: `.gitignore` is honoured, hidden files
/// are found, `.git` is not, and no link is followed.
///
/// # Errors
/// A folder that is outside or missing, too many files, cancelled.
pub fn list_file_sizes(
    workspace: &Workspace,
    under: Option<&str>,
    files_max: usize,
    cancel: &CancellationToken,
) -> Result<FileSizes, FileError> {
    let ground = SearchRoot::resolve_root(workspace, under, PathUse::List)?;
    if ground.kind != PathKind::Folder {
        return Err(FileError::NotAFolder {
            path: under.unwrap_or(".").to_owned(),
        });
    }
    let found = walk_entries(&ground, cancel, EntryFilter::Files, None, |rel| {
        !workspace.is_hidden(&ground.display_path(rel))
    })?;
    let mut standing = VerifiedStat::new(&ground);
    let mut sized = found.iter().filter_map(|rel| {
        let stat = standing.stat(rel)?;
        let below = rel.strip_prefix(&ground.rel).ok()?;
        Some(FileSize {
            path: display_path(below),
            bytes: stat.bytes,
        })
    });
    Ok(FileSizes {
        files: sized.by_ref().take(files_max).collect(),
        more: sized.next().is_some(),
    })
}
