//! Other names of closed files: a hard link shows what its file holds, whatever it is called.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::os::unix::fs::{DirEntryExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use crate::limits::CLOSED_NAMES_MAX;

/// The names in a workspace that lead to the same files as these closed paths, or as the files below them. The paths are
/// real ones, and so is the root. Names outside of the workspace are not looked for, and neither are those of files that
/// stand behind the first [`CLOSED_NAMES_MAX`] names below closed folders.
pub(super) fn other_names(root: &Path, closed: &[PathBuf]) -> Vec<PathBuf> {
    let Ok(device) = fs::symlink_metadata(root).map(|found| found.dev()) else {
        return Vec::new();
    };
    let linked = linked(closed, device);
    if linked.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let path = entry.path();
            let is_other = || fs::symlink_metadata(&path).is_ok_and(|found| found.dev() == device);
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() && linked.contains(&entry.ino()) && is_other() {
                found.push(path);
            }
        }
    }
    found
}

/// The numbers of closed files on a device that have more than one name.
fn linked(closed: &[PathBuf], device: u64) -> HashSet<u64> {
    let mut found = HashSet::new();
    let mut left = CLOSED_NAMES_MAX;
    let mut next: VecDeque<PathBuf> = closed.iter().cloned().collect();
    while let Some(path) = next.pop_front() {
        let Ok(about) = fs::symlink_metadata(&path) else {
            continue;
        };
        if about.dev() != device {
            continue;
        }
        if about.is_file() && about.nlink() > 1 {
            found.insert(about.ino());
        } else if about.is_dir() {
            let names = fs::read_dir(&path).into_iter().flatten().flatten();
            let names: Vec<PathBuf> = names.map(|entry| entry.path()).take(left).collect();
            left -= names.len();
            next.extend(names);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_file_is_found_under_its_other_names() {
        let home = tempfile::tempdir().unwrap();
        let (keys, root) = (home.path().join("keys"), home.path().join("work"));
        for folder in [keys.join("deep"), root.join("a/b")] {
            fs::create_dir_all(folder).unwrap();
        }
        for name in ["deep/id", "alone"] {
            fs::write(keys.join(name), "secret").unwrap();
        }
        fs::write(root.join(".env"), "secret").unwrap();
        fs::write(root.join("plain"), "").unwrap();
        let link = |from: PathBuf, to: &str| fs::hard_link(from, root.join(to)).unwrap();
        link(keys.join("deep/id"), "a/notes");
        link(root.join(".env"), "a/b/settings");
        link(root.join("plain"), "a/other");

        let closed = [keys.clone(), root.join(".env")];
        let mut found = other_names(&root, &closed);
        found.sort();
        let all = [".env", "a/b/settings", "a/notes"].map(|name| root.join(name));
        assert_eq!(found, all);
        assert_eq!(
            other_names(&root, &[keys.join("alone")]),
            [] as [PathBuf; 0]
        );
    }
}
