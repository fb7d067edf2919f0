//! Other names of closed files: a hard link gives access to the content of its file, whatever its name.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::fs::workspace::{LinkNameWalk, display_path};
use crate::limits::CLOSED_NAMES_MAX;

/// Other names of closed files.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::dry_run) struct OtherNames {
    /// Names that were found; closed ones may be among them.
    pub found: Vec<PathBuf>,
    /// Closed files some of whose names were not found, each with the number of missing names. Where closed folders
    /// hold more names than are looked at, these are only files that are closed by their own name: another name of the
    /// rest may lie in such a folder.
    pub unknown: Vec<(PathBuf, u64)>,
}

/// Identity of a file: its device and its inode.
type FileId = (u64, u64);

/// A closed file with more than one name.
struct HardLinkedFile {
    links: u64,
    names: BTreeSet<PathBuf>,
}

/// Finds the names that lead to the same files as these closed paths, or as the files below them: in the workspace, and
/// beside each file in its own folder. The paths are real ones, and so is the root. Files beyond the first
/// [`CLOSED_NAMES_MAX`] names below closed folders are skipped.
pub(in crate::dry_run) fn find_other_names(root: &Path, closed: &[PathBuf]) -> OtherNames {
    let (mut linked, are_all) = find_hard_linked(closed);
    let mut other_names = BTreeSet::new();
    if let Ok(device) = fs::symlink_metadata(root).map(|about| about.dev()) {
        let files = inodes_on_device(&linked, device);
        if !files.is_empty() {
            for name in LinkNameWalk::new(root, device, &files) {
                record_name(name, &mut linked, &mut other_names);
            }
        }
    }
    let incomplete = linked.iter().filter(|(_, file)| file.unknown_count() > 0);
    let beside: BTreeSet<(PathBuf, u64)> = incomplete
        .flat_map(|((device, _), file)| file.names.iter().map(|name| (name.clone(), *device)))
        .filter_map(|(name, device)| Some((name.parent()?.to_owned(), device)))
        .filter(|(folder, _)| !folder.starts_with(root))
        .collect();
    for (folder, device) in beside {
        let files = inodes_on_device(&linked, device);
        let names = LinkNameWalk::new(&folder, device, &files).without_subfolders();
        for name in names.with_limit(CLOSED_NAMES_MAX) {
            record_name(name, &mut linked, &mut other_names);
        }
    }
    let is_sure =
        |file: &HardLinkedFile| are_all || file.names.iter().any(|name| closed.contains(name));
    let unknown = linked.values().filter(|file| file.unknown_count() > 0);
    let unknown = unknown.filter(|file| is_sure(file));
    let unknown =
        unknown.filter_map(|file| Some((file.names.first()?.clone(), file.unknown_count())));
    let mut unknown: Vec<_> = unknown.collect();
    unknown.sort();
    OtherNames {
        found: other_names.into_iter().collect(),
        unknown,
    }
}

/// Returns the inodes of the linked files on a device.
fn inodes_on_device(linked: &HashMap<FileId, HardLinkedFile>, device: u64) -> HashSet<u64> {
    let here = linked.keys().filter(|(other, _)| *other == device);
    here.map(|(_, number)| *number).collect()
}

/// Records a name that was found.
fn record_name(
    name: PathBuf,
    linked: &mut HashMap<FileId, HardLinkedFile>,
    names: &mut BTreeSet<PathBuf>,
) {
    let about = fs::symlink_metadata(&name);
    if let Some(file) = about
        .ok()
        .and_then(|about| linked.get_mut(&file_id(&about)))
    {
        file.names.insert(name.clone());
        names.insert(name);
    }
}

impl HardLinkedFile {
    fn unknown_count(&self) -> u64 {
        self.links.saturating_sub(self.names.len() as u64)
    }
}

impl OtherNames {
    /// Returns a note for a person about the names that were not found.
    pub(in crate::dry_run) fn unknown_names_note(&self) -> Option<String> {
        let ((path, names), others) = self.unknown.split_first()?;
        let names = match names {
            1 => "1 other name".to_owned(),
            names => format!("{names} other names"),
        };
        let others = match others.len() {
            0 => String::new(),
            1 => " So does 1 more closed file.".to_owned(),
            more => format!(" So do {more} more closed files."),
        };
        Some(format!(
            "`{}` has {names} (hard links) outside of the workspace that could not be found: what it holds may be read there in the sandbox.{others} `find / -samefile FILE` finds them.",
            display_path(path)
        ))
    }
}

/// Finds the closed files that have more than one name, and whether no folder held more names than are looked at.
fn find_hard_linked(closed: &[PathBuf]) -> (HashMap<FileId, HardLinkedFile>, bool) {
    let mut linked = HashMap::new();
    let mut left = CLOSED_NAMES_MAX;
    let mut folders = VecDeque::new();
    let known: HashSet<&Path> = closed.iter().map(PathBuf::as_path).collect();
    let lies_in_another = |path: &Path| path.ancestors().skip(1).any(|above| known.contains(above));
    for path in closed {
        match fs::symlink_metadata(path) {
            Ok(about) if about.is_dir() => {
                if !lies_in_another(path) {
                    folders.push_back(path.clone());
                }
            }
            Ok(about) => record_linked(&about, || path.clone(), &mut linked),
            Err(_) => {}
        }
    }
    while let Some(folder) = folders.pop_front().filter(|_| left > 0) {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        for entry in entries.take(left) {
            left -= 1;
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push_back(entry.path()),
                Ok(kind) if kind.is_file() => {
                    if let Ok(about) = entry.metadata() {
                        record_linked(&about, || entry.path(), &mut linked);
                    }
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    (linked, left > 0)
}

/// Records a file if it has more than one name.
fn record_linked(
    about: &Metadata,
    name: impl FnOnce() -> PathBuf,
    linked: &mut HashMap<FileId, HardLinkedFile>,
) {
    if about.is_file() && about.nlink() > 1 {
        let file = linked
            .entry(file_id(about))
            .or_insert_with(|| HardLinkedFile {
                links: about.nlink(),
                names: BTreeSet::new(),
            });
        file.names.insert(name());
    }
}

fn file_id(about: &Metadata) -> FileId {
    (about.dev(), about.ino())
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
        let all = [".env", "a/b/settings", "a/notes"].map(|name| root.join(name));
        let all = OtherNames {
            found: all.into(),
            unknown: Vec::new(),
        };
        assert_eq!(find_other_names(&root, &closed), all);
        assert_eq!(
            find_other_names(&root, &[keys.join("alone")]),
            OtherNames::default()
        );
    }

    #[test]
    fn a_name_beside_a_closed_file_is_found_and_one_far_away_is_told_of() {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path);
        for folder in ["work", "far", "keys"] {
            fs::create_dir(at(folder)).unwrap();
        }
        for (file, others) in [
            ("netrc", vec!["netrc.old"]),
            ("work/.env", vec!["far/env", "far/env2"]),
            ("keys/id", vec!["keys/id2", "far/id"]),
        ] {
            fs::write(at(file), "secret").unwrap();
            for other in others {
                fs::hard_link(at(file), at(other)).unwrap();
            }
        }
        let names = find_other_names(&at("work"), &["netrc", "work/.env", "keys"].map(at));
        assert_eq!(names.unknown, [(at("keys/id"), 1), (at("work/.env"), 2)]);
        assert!(names.found.contains(&at("netrc.old")), "{names:?}");
        let note = names.unknown_names_note().unwrap();
        assert!(note.contains("keys/id` has 1 other name "), "{note}");
        assert!(note.contains("So does 1 more closed file."), "{note}");
    }

    #[test]
    fn where_not_all_closed_names_are_looked_at_only_closed_files_are_told_of() {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path);
        for folder in ["work", "far", "keys"] {
            fs::create_dir(at(folder)).unwrap();
        }
        for (file, other) in [("netrc", "far/netrc"), ("keys/id", "far/id")] {
            fs::write(at(file), "secret").unwrap();
            fs::hard_link(at(file), at(other)).unwrap();
        }
        for number in 0..CLOSED_NAMES_MAX {
            fs::write(at(&format!("keys/{number}")), "").unwrap();
        }
        let names = find_other_names(&at("work"), &["netrc", "keys"].map(at));
        assert_eq!(names.unknown, [(at("netrc"), 1)]);
    }

    #[test]
    fn nothing_is_told_of_files_whose_names_are_all_known() {
        assert_eq!(OtherNames::default().unknown_names_note(), None);
    }
}
