//! Removes a tree: first its name in one step, then its content.

use std::path::Path;

use protocol::Plan;
use protocol::call::plan::Removal;

use crate::fs::at_path::AtPath as _;
use crate::fs::dir;
use crate::fs::dir::Dir;
use crate::fs::fault_injection::crash_point;
use crate::fs::temp::TempTag;
use crate::fs::workspace::{PathKind, PathUse, Tree, list_tree_at};
use crate::limits::TREE_ITEMS_MAX;
use crate::{FileError, Workspace};

pub(super) fn remove_tree(
    workspace: &Workspace,
    plan: &Plan,
    removal: &Removal,
) -> Result<(), FileError> {
    let path = removal.path.as_str();
    let rel = workspace.resolve_writable(path, PathUse::Delete)?;
    let Some((parent, name)) = dir::split_parent(&rel) else {
        return Err(FileError::from_display(
            path,
            "it is the workspace itself, which stays",
        ));
    };
    let parent = workspace.dir().open_folder(parent).at(path)?;
    let tree = load_verified_tree(&parent, Path::new(name), removal)?;
    if !parent.can_change_names() {
        return Err(FileError::NoPermission { path: path.into() });
    }
    check_removable(&parent, &tree)?;

    let away = TempTag::from_plan(plan).temp_name(0);
    parent.rename(name, &away).at(path)?;
    let taken = crash_point()
        .at(path)
        // Whoever changed something between the look and the rename finds it unharmed.
        .and_then(|()| load_verified_tree(&parent, Path::new(&away), removal))
        .and_then(|_| parent.remove_tree(&away).at(path));
    if let Err(error) = taken {
        parent.rename(&away, name).at(path)?;
        return Err(error);
    }
    parent.sync().at(path)
}

/// Loads the tree at a name of `parent`, if it is the one of the plan.
fn load_verified_tree(parent: &Dir, name: &Path, removal: &Removal) -> Result<Tree, FileError> {
    let path = removal.path.as_str();
    let stat = parent.stat_at(name).at(path)?;
    let tree = match stat {
        None => None,
        Some(stat) => Some(
            list_tree_at(parent, name, stat, TREE_ITEMS_MAX)
                .map_err(|failure| failure.into_file_error(path, TREE_ITEMS_MAX))?,
        ),
    };
    tree.filter(|tree| tree.digest == removal.listing)
        .ok_or_else(|| FileError::Changed { path: path.into() })
}

/// Refuses, before anything is touched, a tree with a folder from which names cannot be removed.
fn check_removable(parent: &Dir, tree: &Tree) -> Result<(), FileError> {
    for (number, item) in tree.items.iter().enumerate() {
        let filled = tree
            .items
            .get(number + 1)
            .is_some_and(|next| next.path.starts_with(&item.path));
        if item.kind == PathKind::Folder && filled {
            let folder = parent.open_folder(&item.path).at(&item.path)?;
            if !folder.can_change_names() {
                let path = crate::fs::workspace::display_path(&item.path);
                return Err(FileError::NoPermission { path });
            }
        }
    }
    Ok(())
}
