//! Everything at and below a path, with a digest that says whether it is still the same.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use protocol::Digest;

use super::{PathKind, Tree, TreeItem, TreeLimits, Use, Workspace, shown};
use crate::FileError;
use crate::dir::{self, Dir, Stat};
use crate::limits::TREE_DEPTH_MAX;

impl Workspace {
    /// Everything at and below `path`, the last part not followed.
    ///
    /// # Errors
    /// Outside, not found, no permission somewhere below, or too many entries.
    pub fn tree(&self, path: &str, limits: TreeLimits) -> Result<Tree, FileError> {
        let place = self.readable_place(path, false, Use::Read)?;
        let stat = place
            .root
            .dir
            .stat_at(&place.rel)
            .map_err(|error| FileError::from_io(path, &error))?
            .ok_or_else(|| FileError::NotFound {
                path: path.to_owned(),
            })?;
        let tree = tree_at(&place.root.dir, &place.rel, stat, limits.items_max);
        let mut tree = tree.map_err(|failure| failure.named(path, limits.items_max))?;
        if tree.bytes <= limits.lines_bytes_max {
            tree.lines = count_lines(&place.root.dir, &tree.items);
        }
        Ok(tree)
    }
}

/// Why a tree could not be listed.
pub(crate) enum TreeFailure {
    /// What the system said about a path.
    System(PathBuf, io::Error),
    /// More entries than the limit.
    TooMany,
}

impl TreeFailure {
    pub(crate) fn named(self, path: &str, items_max: usize) -> FileError {
        match self {
            Self::System(at, error) => FileError::from_io(shown(&at), &error),
            Self::TooMany => FileError::TooMany {
                path: path.to_owned(),
                items_max,
            },
        }
    }
}

/// Lists what stands at `rel` below `dir`, which is `stat`.
pub(crate) fn tree_at(
    dir: &Dir,
    rel: &Path,
    stat: Stat,
    items_max: usize,
) -> Result<Tree, TreeFailure> {
    let mut list = Listing {
        items: Vec::new(),
        items_max,
    };
    list.add(rel.to_owned(), stat)?;
    if stat.kind == PathKind::Folder {
        let folder = dir
            .folder(rel)
            .map_err(|error| TreeFailure::System(rel.to_owned(), error))?;
        list.descend(&folder, rel, 0)?;
    }
    Ok(summed(list.items, rel))
}

struct Listing {
    items: Vec<TreeItem>,
    items_max: usize,
}

impl Listing {
    fn add(&mut self, path: PathBuf, stat: Stat) -> Result<(), TreeFailure> {
        if self.items.len() >= self.items_max {
            return Err(TreeFailure::TooMany);
        }
        self.items.push(TreeItem {
            path,
            kind: stat.kind,
            bytes: stat.bytes,
            mode: stat.mode,
            mtime_ns: stat.mtime_ns,
        });
        Ok(())
    }

    fn descend(&mut self, folder: &Dir, at: &Path, depth: usize) -> Result<(), TreeFailure> {
        let failed = |error| TreeFailure::System(at.to_owned(), error);
        if depth >= TREE_DEPTH_MAX {
            let error = io::Error::other(format!("folders are nested deeper than {depth} levels"));
            return Err(failed(error));
        }
        for name in folder.names().map_err(failed)? {
            // A name that is gone since the listing is gone; the digest will say so.
            let Some(stat) = folder.stat(&name).map_err(failed)? else {
                continue;
            };
            let path = at.join(&name);
            self.add(path.clone(), stat)?;
            if stat.kind == PathKind::Folder {
                let below = folder
                    .folder(Path::new(&name))
                    .map_err(|error| TreeFailure::System(path.clone(), error))?;
                self.descend(&below, &path, depth + 1)?;
            }
        }
        Ok(())
    }
}

fn summed(items: Vec<TreeItem>, top: &Path) -> Tree {
    let mut hasher = blake3::Hasher::new();
    let (mut files, mut folders, mut bytes) = (0, 0, 0);
    for item in &items {
        match item.kind {
            PathKind::Folder => folders += 1,
            PathKind::File | PathKind::Link | PathKind::Special => files += 1,
        }
        bytes += item.bytes;
        // The top's own name is left out: the same tree under another name has the same digest.
        let name = item.path.strip_prefix(top).unwrap_or(&item.path);
        let name = name.as_os_str().as_encoded_bytes();
        hasher.update(&(name.len() as u64).to_le_bytes());
        hasher.update(name);
        hasher.update(item.kind.as_str().as_bytes());
        hasher.update(&item.mode.to_le_bytes());
        hasher.update(&item.bytes.to_le_bytes());
        hasher.update(&item.mtime_ns.to_le_bytes());
    }
    Tree {
        digest: Digest::of_hash(&hasher.finalize()),
        items,
        files,
        folders,
        bytes,
        lines: None,
    }
}

/// Lines of all text files together; none when one of them cannot be read.
fn count_lines(dir: &Dir, items: &[TreeItem]) -> Option<u64> {
    let mut lines = 0;
    for item in items.iter().filter(|item| item.kind == PathKind::File) {
        let file = dir.file(&item.path).ok()?;
        if dir::kind_of_open(&file).ok()? != PathKind::File {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(item.bytes).read_to_end(&mut bytes).ok()?;
        if !bytes.contains(&0) {
            let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
            let open_end = bytes.last().is_some_and(|byte| *byte != b'\n');
            lines += ends as u64 + u64::from(open_end);
        }
    }
    Some(lines)
}
