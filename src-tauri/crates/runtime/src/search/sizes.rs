//! Lists the files below a folder with their sizes.

use tokio_util::sync::CancellationToken;

use super::walk::{Entries, Ground, Standing, walk};
use crate::files::{PathKind, Use, shown};
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
pub struct SizesFound {
    /// Sorted by path.
    pub files: Vec<FileSize>,
    /// Whether there are more than the limit.
    pub more: bool,
}

/// Regular files below `under` as [`crate::glob`] finds them: `.gitignore` is honoured, hidden files are found, `.git` is
/// not, and no link is followed.
///
/// # Errors
/// A folder that is outside or missing, too many files, cancelled.
pub fn sizes(
    workspace: &Workspace,
    under: Option<&str>,
    files_max: usize,
    cancel: &CancellationToken,
) -> Result<SizesFound, FileError> {
    let ground = Ground::of(workspace, under, Use::List)?;
    if ground.kind != PathKind::Folder {
        return Err(FileError::NotAFolder {
            path: under.unwrap_or(".").to_owned(),
        });
    }
    let found = walk(&ground, cancel, Entries::Files, None, |rel| {
        !workspace.hides(&ground.shown(rel))
    })?;
    let mut standing = Standing::below(&ground);
    let mut sized = found.iter().filter_map(|rel| {
        let stat = standing.stat(rel)?;
        let below = rel.strip_prefix(&ground.rel).ok()?;
        Some(FileSize {
            path: shown(below),
            bytes: stat.bytes,
        })
    });
    Ok(SizesFound {
        files: sized.by_ref().take(files_max).collect(),
        more: sized.next().is_some(),
    })
}
