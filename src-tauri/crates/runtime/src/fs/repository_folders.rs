//! Where a repository of git lies: its work tree, and the folders in which git keeps the rest.

use std::fs;
use std::path::{Path, PathBuf};

use gix_hash::Kind;

/// Longest file of one line that git keeps, in bytes.
const LINE_FILE_BYTES_MAX: u64 = 4096;

/// Folders of a repository.
pub(crate) struct RepositoryFolders {
    /// Folder with the files.
    pub work_tree: PathBuf,
    /// Folder with what this work tree alone has.
    pub git_dir: PathBuf,
    /// Folder with what all work trees of the repository have in common.
    pub common_dir: PathBuf,
}

impl RepositoryFolders {
    /// Finds the folders of the repository whose work tree is this folder; none if there is none.
    pub fn of_work_tree(work_tree: &Path) -> Option<Self> {
        let found = work_tree.join(".git");
        let git_dir = match fs::symlink_metadata(&found) {
            Ok(meta) if meta.is_dir() => found,
            Ok(meta) if meta.is_file() => {
                let line = read_line_file(&found)?;
                work_tree.join(line.strip_prefix("gitdir: ")?)
            }
            Ok(_) | Err(_) => return None,
        };
        let common_dir = match read_line_file(&git_dir.join("commondir")) {
            Some(common) => git_dir.join(common),
            None => git_dir.clone(),
        };
        Some(Self {
            work_tree: work_tree.to_owned(),
            git_dir,
            common_dir,
        })
    }
}

/// Returns the folders of the repository that a folder lies in, with all links followed: its work tree, and the folder
/// that all work trees have in common; none if it lies in no repository.
#[cfg(target_os = "linux")]
pub(crate) fn find_repository_folders(folder: &Path) -> Option<[PathBuf; 2]> {
    let found = folder
        .ancestors()
        .find_map(RepositoryFolders::of_work_tree)?;
    let common_dir = fs::canonicalize(&found.common_dir).ok()?;
    Some([found.work_tree, common_dir])
}

/// Reads the list of what is staged; none if it cannot be read.
pub(crate) fn read_index(git_dir: &Path) -> Option<gix_index::File> {
    let options = gix_index::decode::Options::default();
    gix_index::File::at(git_dir.join("index"), Kind::Sha1, true, options).ok()
}

/// Reads a file of one line; none if it cannot be read.
pub(crate) fn read_line_file(path: &Path) -> Option<String> {
    let meta = fs::symlink_metadata(path).ok()?;
    let is_short = meta.is_file() && meta.len() <= LINE_FILE_BYTES_MAX;
    let text = is_short.then(|| fs::read_to_string(path).ok()).flatten()?;
    Some(text.trim().to_owned())
}
