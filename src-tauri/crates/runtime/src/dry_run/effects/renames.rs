//! Detection of renames: pairs created paths with removed ones by their content.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use protocol::Digest;
use protocol::history::Node;

use crate::dry_run::overlay::change::{ChangedPath, PathContent};

/// The former path of each renamed file or folder, by its new path.
#[derive(Debug, Default)]
pub(in crate::dry_run) struct RenameMap<'a> {
    from: BTreeMap<&'a Path, &'a Path>,
    to: BTreeMap<&'a Path, &'a Path>,
}

impl<'a> RenameMap<'a> {
    fn add_rename(&mut self, from: &'a Path, to: &'a Path) {
        self.from.insert(to, from);
        self.to.insert(from, to);
    }

    /// Returns the path at which the entry at `to` stood before.
    pub(in crate::dry_run) fn source_of(&self, to: &Path) -> Option<&'a Path> {
        self.from.get(to).copied()
    }

    /// Returns the path to which the entry at `from` was moved.
    pub(in crate::dry_run) fn target_of(&self, from: &Path) -> Option<&'a Path> {
        self.to.get(from).copied()
    }

    /// Whether the entry at a path was moved to another path.
    pub(in crate::dry_run) fn is_moved(&self, path: &Path) -> bool {
        self.to.contains_key(path)
    }
}

/// Finds renames: files with the same content, preferring those with the same name, and folders all of whose files
/// moved together. Paths in `left` are never taken for renamed.
pub(in crate::dry_run) fn find_renames<'a>(
    changes: &'a [ChangedPath],
    excluded: &BTreeSet<&Path>,
) -> RenameMap<'a> {
    let mut renames = RenameMap::default();
    let mut removals: BTreeMap<&Digest, Vec<&'a Path>> = BTreeMap::new();
    for change in changes {
        if let (Some(blob), PathContent::Node(Node::Absent)) =
            (content_digest(&change.before), &change.after)
            && !excluded.contains(change.path.as_path())
        {
            removals.entry(blob).or_default().push(&change.path);
        }
    }
    let additions: Vec<(&Digest, &'a Path)> = changes
        .iter()
        .filter(|change| change.before == PathContent::Node(Node::Absent))
        .filter(|change| !excluded.contains(change.path.as_path()))
        .filter_map(|change| Some((content_digest(&change.after)?, change.path.as_path())))
        .collect();
    for same_name in [true, false] {
        for (blob, to) in &additions {
            let Some(candidates) = removals.get_mut(blob) else {
                continue;
            };
            let fits = |from: &&Path| !same_name || from.file_name() == to.file_name();
            if renames.source_of(to).is_none()
                && let Some(at) = candidates.iter().position(fits)
            {
                renames.add_rename(candidates.remove(at), to);
            }
        }
    }
    find_folder_renames(changes, excluded, &mut renames);
    renames
}

/// Finds folders that were removed and created again with all their files.
fn find_folder_renames<'a>(
    changes: &'a [ChangedPath],
    excluded: &BTreeSet<&Path>,
    renames: &mut RenameMap<'a>,
) {
    let mut files_below: BTreeMap<&Path, usize> = BTreeMap::new();
    let mut gone: BTreeSet<&'a Path> = BTreeSet::new();
    let mut new: BTreeSet<&'a Path> = BTreeSet::new();
    for change in changes {
        match (&change.before, &change.after) {
            (PathContent::Node(Node::Folder { .. }), PathContent::Node(Node::Absent))
                if !excluded.contains(change.path.as_path()) =>
            {
                gone.insert(&change.path);
            }
            (PathContent::Node(Node::Absent), PathContent::Node(Node::Folder { .. })) => {
                new.insert(&change.path);
            }
            _ => {
                for above in change.path.ancestors().skip(1) {
                    *files_below.entry(above).or_default() += 1;
                }
            }
        }
    }
    let mut together: BTreeMap<(&'a Path, &'a Path), usize> = BTreeMap::new();
    for (to, from) in &renames.from {
        let pairs = from.ancestors().zip(to.ancestors());
        let same = pairs.take_while(|(from, to)| from.file_name() == to.file_name());
        let depth = same.count();
        for step in 1..=depth {
            let (from, to) = (from.ancestors().nth(step), to.ancestors().nth(step));
            if let (Some(from), Some(to)) = (from, to)
                && let (Some(from), Some(to)) = (gone.get(from), new.get(to))
            {
                *together.entry((from, to)).or_default() += 1;
            }
        }
    }
    for ((from, to), files) in together {
        let all = |folder: &Path| files_below.get(folder) == Some(&files);
        if all(from) && all(to) {
            renames.add_rename(from, to);
        }
    }
}

fn content_digest(thing: &PathContent) -> Option<&Digest> {
    match thing {
        // Empty files are all alike.
        PathContent::Node(Node::File {
            blob, bytes: 1.., ..
        }) => Some(blob),
        PathContent::Node(_) | PathContent::Special(_) => None,
    }
}
