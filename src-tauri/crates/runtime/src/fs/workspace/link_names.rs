//! Names in a folder that lead to one of some files: a hard link gives access to the content of its file, whatever its
//! name.

use std::collections::HashSet;
use std::fs::{self, DirEntry, ReadDir};
use std::os::unix::fs::{DirEntryExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// A walk through a folder and everything below it, which yields the path of each such name. Links are not followed.
pub(crate) struct LinkNameWalk<'a> {
    device: u64,
    files: &'a HashSet<u64>,
    passed_by: &'static [&'static str],
    looked_at_max: usize,
    descends: bool,
    folders: Vec<PathBuf>,
    open: Option<ReadDir>,
}

impl<'a> LinkNameWalk<'a> {
    /// Finds the names below a root of the files with these inodes on this device.
    pub fn new(root: &Path, device: u64, files: &'a HashSet<u64>) -> Self {
        Self {
            device,
            files,
            passed_by: &[],
            looked_at_max: usize::MAX,
            descends: true,
            folders: vec![root.to_owned()],
            open: None,
        }
    }

    /// Skips folders of these names.
    pub fn skipping_folders(self, passed_by: &'static [&'static str]) -> Self {
        Self { passed_by, ..self }
    }

    /// Skips the folders below the root.
    pub fn without_subfolders(self) -> Self {
        Self {
            descends: false,
            ..self
        }
    }

    /// Stops after looking at so many names, whatever they lead to.
    pub fn with_limit(self, looked_at_max: usize) -> Self {
        Self {
            looked_at_max,
            ..self
        }
    }

    fn next_entry(&mut self) -> Option<DirEntry> {
        loop {
            match self.open.as_mut().and_then(Iterator::next) {
                Some(Ok(entry)) => return Some(entry),
                Some(Err(_)) => {}
                None => self.open = fs::read_dir(self.folders.pop()?).ok(),
            }
        }
    }

    fn is_wanted(&self, entry: &DirEntry) -> bool {
        self.files.contains(&entry.ino())
            && entry
                .metadata()
                .is_ok_and(|found| found.dev() == self.device && self.files.contains(&found.ino()))
    }
}

impl Iterator for LinkNameWalk<'_> {
    type Item = PathBuf;

    fn next(&mut self) -> Option<PathBuf> {
        while self.looked_at_max > 0 {
            let entry = self.next_entry()?;
            self.looked_at_max -= 1;
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder {
                let is_passed_by =
                    !self.descends || self.passed_by.iter().any(|name| entry.file_name() == *name);
                self.folders
                    .extend(Some(entry.path()).filter(|_| !is_passed_by));
            } else if self.is_wanted(&entry) {
                return Some(entry.path());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_up_to_a_limit() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path();
        for folder in ["a/b", "target"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("one"), "").unwrap();
        fs::write(root.join("two"), "").unwrap();
        for name in ["a/b/other", "target/other"] {
            fs::hard_link(root.join("one"), root.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("one"), root.join("link")).unwrap();
        let about = fs::metadata(root.join("one")).unwrap();
        let files = HashSet::from([about.ino()]);
        let found = |change: fn(LinkNameWalk<'_>) -> LinkNameWalk<'_>, device| {
            let names = change(LinkNameWalk::new(root, device, &files));
            let mut found: Vec<String> = names
                .map(|path| path.strip_prefix(root).unwrap().display().to_string())
                .collect();
            found.sort();
            found
        };
        let all = ["a/b/other", "one", "target/other"];
        assert_eq!(found(|names| names, about.dev()), all);
        let passed_by = found(|names| names.skipping_folders(&["target"]), about.dev());
        assert_eq!(passed_by, all[..2]);
        assert_eq!(
            found(|names| names.without_subfolders(), about.dev()),
            ["one"]
        );
        assert!(found(|names| names.with_limit(4), about.dev()).len() < all.len());
        assert_eq!(found(|names| names, about.dev() + 1), [""; 0]);
    }
}
