//! Secrets that git has as they are: what is staged has their content.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use gix_hash::{Kind, ObjectId};
use gix_object::Kind as ObjectKind;

use crate::dry_run::secrets::file_stamp::FileStamp;
use crate::fs::repository_folders::{RepositoryFolders, read_index};
use crate::limits::{FOLDER_STABLE_NS, STAGED_FILE_BYTES_MAX};

/// The comparisons of files with what is staged, remembered for as long as neither changes: every dry run asks.
#[derive(Debug, Default)]
pub(in crate::dry_run) struct StagedFiles {
    known: Mutex<HashMap<PathBuf, Comparison>>,
}

/// A comparison, and what was compared.
#[derive(Debug, Clone, Copy)]
struct Comparison {
    file: FileStamp,
    index: FileStamp,
    is_same: bool,
}

impl StagedFiles {
    /// Returns those of the files that the repository of a folder has staged with their content. A path that leads out of
    /// the folder, to no file, or to a very long one is none of them.
    pub fn find_unchanged(&self, root: &Path, paths: &[PathBuf]) -> Vec<PathBuf> {
        let files: Vec<_> = paths
            .iter()
            .filter(|path| path.starts_with(root))
            .filter_map(|path| Some((path, fs::symlink_metadata(path).ok()?)))
            .filter(|(_, found)| found.is_file() && found.len() <= STAGED_FILE_BYTES_MAX)
            .map(|(path, found)| (path, FileStamp::from_metadata(&found)))
            .collect();
        if files.is_empty() {
            return Vec::new();
        }
        let Some(folders) = root.ancestors().find_map(RepositoryFolders::of_work_tree) else {
            return Vec::new();
        };
        let Some(index_stamp) = FileStamp::read(&folders.git_dir.join("index")) else {
            return Vec::new();
        };
        let index = LazyCell::new(|| read_index(&folders.git_dir));
        let is_same = |path: &Path, file: FileStamp| {
            if let Some(known) = self.recall(path, file, index_stamp) {
                return known;
            }
            let is_same = (*index)
                .as_ref()
                .is_some_and(|index| is_staged(index, &folders.work_tree, path));
            let compared = Comparison {
                file,
                index: index_stamp,
                is_same,
            };
            self.remember(path, compared);
            is_same
        };
        let unchanged = files
            .into_iter()
            .filter(|(path, file)| is_same(path, *file));
        unchanged.map(|(path, _)| path.clone()).collect()
    }

    fn recall(&self, path: &Path, file: FileStamp, index: FileStamp) -> Option<bool> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let compared = known.get(path)?;
        (compared.file == file && compared.index == index).then_some(compared.is_same)
    }

    /// Remembers a comparison, unless a change might follow that leaves the same stamps.
    fn remember(&self, path: &Path, compared: Comparison) {
        if compared.file.is_stable(FOLDER_STABLE_NS) && compared.index.is_stable(FOLDER_STABLE_NS) {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.insert(path.to_owned(), compared);
        }
    }
}

/// Whether a file is staged with the content that it has. One that git checks out in another form than it keeps is not.
fn is_staged(index: &gix_index::File, work_tree: &Path, path: &Path) -> bool {
    let staged = path.strip_prefix(work_tree).ok().and_then(|name| {
        let entry = index.entry_by_path(name.as_os_str().as_encoded_bytes().into())?;
        Some(entry.id)
    });
    let hash = |content: Vec<u8>| -> Option<ObjectId> {
        gix_object::compute_hash(Kind::Sha1, ObjectKind::Blob, &content).ok()
    };
    staged.is_some_and(|staged| fs::read(path).ok().and_then(hash) == Some(staged))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn git(root: &Path, arguments: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
            .args(arguments)
            .current_dir(root)
            .status();
        assert!(done.unwrap().success(), "{arguments:?}");
    }

    #[test]
    fn a_file_counts_while_it_is_as_it_is_staged() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        let [tracked, loose, gone] = ["deploy.tfstate", ".env", "gone.pem"].map(|n| root.join(n));
        fs::write(&tracked, "one\n").unwrap();
        git(&root, &["init", "-q"]);
        git(&root, &["add", "-A"]);
        fs::write(&loose, "two\n").unwrap();
        let paths = [tracked.clone(), loose.clone(), gone, "/etc/passwd".into()];
        let staged = StagedFiles::default();
        assert_eq!(
            staged.find_unchanged(&root, &paths),
            std::slice::from_ref(&tracked)
        );
        fs::write(&tracked, "six\n").unwrap();
        assert!(staged.find_unchanged(&root, &paths).is_empty());
        git(&root, &["add", "-A"]);
        assert_eq!(staged.find_unchanged(&root, &paths), [tracked, loose]);
    }

    #[test]
    fn without_a_repository_no_file_counts() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".env");
        fs::write(&file, "one\n").unwrap();
        let staged = StagedFiles::default();
        assert!(staged.find_unchanged(folder.path(), &[file]).is_empty());
    }
}
