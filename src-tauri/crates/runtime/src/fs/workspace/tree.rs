//! Everything at and below a path, with a digest that says whether it is still the same.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use protocol::Digest;

use crate::FileError;
use crate::fs::at_path::AtPath as _;
use crate::fs::dir;
use crate::fs::dir::{Dir, FileStat};
use crate::fs::workspace::{
    PathKind, PathUse, Tree, TreeItem, TreeLimits, Workspace, display_path,
};
use crate::limits::TREE_DEPTH_MAX;

impl Workspace {
    /// Lists everything at and below `path`, the last part not followed.
    ///
    /// # Errors
    /// Outside, not found, no permission somewhere below, or too many entries.
    pub fn list_tree(&self, path: &str, limits: TreeLimits) -> Result<Tree, FileError> {
        let place = self.resolve_readable(path, false, PathUse::Read)?;
        let stat = place
            .root
            .dir
            .stat_at(&place.rel)
            .at(path)?
            .ok_or_else(|| FileError::NotFound {
                path: path.to_owned(),
            })?;
        let tree = list_tree_at(&place.root.dir, &place.rel, stat, limits.items_max);
        let mut tree = tree.map_err(|failure| failure.into_file_error(path, limits.items_max))?;
        if tree.bytes <= limits.lines_bytes_max {
            tree.lines = count_lines(&place.root.dir, &tree.items);
        }
        Ok(tree)
    }
}

/// Why a tree could not be listed.
pub(crate) enum TreeError {
    /// The system's error about a path.
    System(PathBuf, io::Error),
    /// More entries than the limit.
    TooMany,
}

impl TreeError {
    pub(crate) fn into_file_error(self, path: &str, items_max: usize) -> FileError {
        match self {
            Self::System(at, error) => FileError::from_io(display_path(&at), &error),
            Self::TooMany => FileError::TooMany {
                path: path.to_owned(),
                items_max,
            },
        }
    }
}

/// Lists the tree at `rel` below `dir`, whose file details are `stat`.
pub(crate) fn list_tree_at(
    dir: &Dir,
    rel: &Path,
    stat: FileStat,
    items_max: usize,
) -> Result<Tree, TreeError> {
    let mut list = TreeListing {
        items: Vec::new(),
        items_max,
    };
    list.add(rel.to_owned(), stat)?;
    if stat.kind == PathKind::Folder {
        let folder = dir
            .open_folder(rel)
            .map_err(|error| TreeError::System(rel.to_owned(), error))?;
        list.list_folder(&folder, rel, 0)?;
    }
    Ok(summarize_tree(list.items, rel))
}

struct TreeListing {
    items: Vec<TreeItem>,
    items_max: usize,
}

impl TreeListing {
    fn add(&mut self, path: PathBuf, stat: FileStat) -> Result<(), TreeError> {
        if self.items.len() >= self.items_max {
            return Err(TreeError::TooMany);
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

    fn list_folder(&mut self, folder: &Dir, at: &Path, depth: usize) -> Result<(), TreeError> {
        let failed = |error| TreeError::System(at.to_owned(), error);
        if depth >= TREE_DEPTH_MAX {
            let error = io::Error::other(format!("folders are nested deeper than {depth} levels"));
            return Err(failed(error));
        }
        for name in folder.list_names().map_err(failed)? {
            // A name that is gone since the listing is gone; the digest will say so.
            let Some(stat) = folder.stat(&name).map_err(failed)? else {
                continue;
            };
            let path = at.join(&name);
            self.add(path.clone(), stat)?;
            if stat.kind == PathKind::Folder {
                let below = folder
                    .open_folder(Path::new(&name))
                    .map_err(|error| TreeError::System(path.clone(), error))?;
                self.list_folder(&below, &path, depth + 1)?;
            }
        }
        Ok(())
    }
}

fn summarize_tree(items: Vec<TreeItem>, top: &Path) -> Tree {
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
        digest: Digest::from_hash(&hasher.finalize()),
        items,
        files,
        folders,
        bytes,
        lines: None,
    }
}

/// Counts the lines of all text files together; `None` when one of them cannot be read.
fn count_lines(dir: &Dir, items: &[TreeItem]) -> Option<u64> {
    let mut lines = 0;
    for item in items.iter().filter(|item| item.kind == PathKind::File) {
        let file = dir.open_file(&item.path).ok()?;
        if dir::open_file_kind(&file).ok()? != PathKind::File {
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
