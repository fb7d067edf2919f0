//! Takes a tree away: first its name in one step, then what is in it.

use std::io;
use std::path::Path;

use protocol::Plan;
use protocol::plan::Removal;

use crate::dir::{self, Dir};
use crate::files::{PathKind, Tree, Use, tree_at};
use crate::limits::TREE_ITEMS_MAX;
use crate::steps::between;
use crate::temp::Tag;
use crate::{FileError, Workspace};

pub(super) fn remove(
    workspace: &Workspace,
    plan: &Plan,
    removal: &Removal,
) -> Result<(), FileError> {
    let path = removal.path.as_str();
    let failed = |error: io::Error| FileError::from_io(path, &error);
    let rel = workspace.writable_place(path, Use::Delete)?;
    let Some((parent, name)) = dir::split(&rel) else {
        return Err(FileError::other(
            path,
            "it is the workspace itself, which stays",
        ));
    };
    let parent = workspace.dir().folder(parent).map_err(failed)?;
    let tree = verified(&parent, Path::new(name), removal)?;
    if !parent.may_change() {
        return Err(FileError::NoPermission { path: path.into() });
    }
    may_take_apart(&parent, &tree)?;

    let away = Tag::of_plan(plan).name(0);
    parent.rename(name, &away).map_err(failed)?;
    let taken = between()
        .map_err(failed)
        // Whoever changed something between the look and the rename finds it unharmed.
        .and_then(|()| verified(&parent, Path::new(&away), removal))
        .and_then(|_| parent.remove_tree(&away).map_err(failed));
    if let Err(error) = taken {
        parent.rename(&away, name).map_err(failed)?;
        return Err(error);
    }
    parent.sync().map_err(failed)
}

/// The tree at a name of `parent`, if it is the one of the plan.
fn verified(parent: &Dir, name: &Path, removal: &Removal) -> Result<Tree, FileError> {
    let path = removal.path.as_str();
    let stat = parent
        .stat_at(name)
        .map_err(|error| FileError::from_io(path, &error))?;
    let tree = match stat {
        None => None,
        Some(stat) => Some(
            tree_at(parent, name, stat, TREE_ITEMS_MAX)
                .map_err(|failure| failure.named(path, TREE_ITEMS_MAX))?,
        ),
    };
    tree.filter(|tree| tree.digest == removal.listing)
        .ok_or_else(|| FileError::Changed { path: path.into() })
}

/// Refuses before anything is touched when a folder of the tree would not let go of its names.
fn may_take_apart(parent: &Dir, tree: &Tree) -> Result<(), FileError> {
    for (number, item) in tree.items.iter().enumerate() {
        let filled = tree
            .items
            .get(number + 1)
            .is_some_and(|next| next.path.starts_with(&item.path));
        if item.kind == PathKind::Folder && filled {
            let folder = parent
                .folder(&item.path)
                .map_err(|error| FileError::from_io(crate::files::shown(&item.path), &error))?;
            if !folder.may_change() {
                let path = crate::files::shown(&item.path);
                return Err(FileError::NoPermission { path });
            }
        }
    }
    Ok(())
}
