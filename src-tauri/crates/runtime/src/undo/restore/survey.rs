//! The state of an entry's paths between its two sides, and names in its folders that it does not know.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use protocol::history::Node;

use crate::FileError;
use crate::fs::at_path::AtPath as _;
use crate::fs::dir::{Dir, is_not_found};
use crate::fs::workspace::display_path;
use crate::undo::UndoDirection;
use crate::undo::entry::manifest::UndoStep;
use crate::undo::entry::node;
use crate::undo::entry::node::MatchLevel;
use crate::undo::permissions::UnlockedPaths;

/// The state of a path between the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::undo) enum PathState {
    /// On the target side already.
    AtTarget,
    /// Still on the other side.
    AtOrigin,
    /// On neither side: changed since by another program.
    Diverged,
}

/// Returns the state of every path on the way in `direction`.
pub(in crate::undo) fn survey_paths(
    unlocked: &UnlockedPaths,
    steps: &[UndoStep],
    direction: UndoDirection,
    fit: MatchLevel,
) -> Result<Vec<PathState>, FileError> {
    let paths = steps.iter().map(|step| step.path.0.as_path());
    unlocked.unlock_for_reading(paths)?;
    let from = direction.opposite();
    let stand = |step: &UndoStep| -> io::Result<PathState> {
        let path = &step.path.0;
        let fit = if step.made { MatchLevel::Loose } else { fit };
        Ok(
            if node::matches_node(unlocked, path, step.target_node(direction), fit)? {
                // Written over with the same: only its time differs, so it has still to go.
                if matches!(step.before, Node::File { .. })
                    && node::is_same_node(&step.before, &step.after, MatchLevel::InProgress)
                {
                    PathState::AtOrigin
                } else {
                    PathState::AtTarget
                }
            } else if node::matches_node(unlocked, path, step.target_node(from), fit)?
                || fit != MatchLevel::Exact
                    && step.has_absent_moment()
                    && node::matches_node(unlocked, path, &Node::Absent, fit)?
            {
                PathState::AtOrigin
            } else {
                PathState::Diverged
            },
        )
    };
    steps
        .iter()
        .map(|step| stand(step).at(&step.path.0))
        .collect()
}

/// Finds names in folders to be removed that the entry does not know: they would be lost with the folders.
pub(in crate::undo) fn find_unknown_names(
    dir: &Dir,
    steps: &[UndoStep],
    direction: UndoDirection,
) -> Result<Vec<String>, FileError> {
    let step_paths: BTreeSet<&Path> = steps.iter().map(|step| &*step.path.0).collect();
    let mut unknown = Vec::new();
    for step in steps.iter().filter(|step| !step.made) {
        let path = &step.path.0;
        let from_folder = matches!(step.target_node(direction.opposite()), Node::Folder { .. });
        if !from_folder || matches!(step.target_node(direction), Node::Folder { .. }) {
            continue;
        }
        let names = match dir.open_folder(path).and_then(|folder| folder.list_names()) {
            Err(error) if is_not_found(&error) => continue,
            other => other.at(path)?,
        };
        let strange = names.iter().map(|name| path.join(name));
        unknown.extend(
            strange
                .filter(|path| !step_paths.contains(path.as_path()))
                .map(|path| display_path(&path)),
        );
    }
    Ok(unknown)
}
