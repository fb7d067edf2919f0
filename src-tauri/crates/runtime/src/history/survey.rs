//! Where the paths of an entry stand between its two sides, and what stands in its folders that it does not know of.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use protocol::history::Node;

use super::Direction;
use super::manifest::Step;
use super::node::{self, Fit};
use super::unlock::{Need, Unlocked};
use crate::FileError;
use crate::dir::{Dir, is_absence};
use crate::files::shown;

/// Where a path stands between the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    /// There already.
    There,
    /// Still on the other side.
    Here,
    /// On neither: somebody else changed it.
    Elsewhere,
}

/// Where every path stands on the way in `direction`.
pub(super) fn survey(
    unlocked: &Unlocked,
    steps: &[Step],
    direction: Direction,
    fit: Fit,
) -> Result<Vec<Stand>, FileError> {
    let paths = steps.iter().map(|step| step.path.0.as_path());
    unlocked.unlock(paths.map(|path| (path, Need::Read)))?;
    let from = direction.opposite();
    let stand = |step: &Step| -> io::Result<Stand> {
        let path = &step.path.0;
        let fit = if step.made { Fit::Loose } else { fit };
        Ok(if node::fits(unlocked, path, step.to(direction), fit)? {
            // Written over with the same: only its time differs, so it has still to go.
            if same_but_time(&step.before, &step.after) {
                Stand::Here
            } else {
                Stand::There
            }
        } else if node::fits(unlocked, path, step.to(from), fit)?
            || fit != Fit::Exact
                && step.passes_absence()
                && node::fits(unlocked, path, &Node::Absent, fit)?
        {
            Stand::Here
        } else {
            Stand::Elsewhere
        })
    };
    steps
        .iter()
        .map(|step| stand(step).map_err(|error| FileError::from_io(shown(&step.path.0), &error)))
        .collect()
}

fn same_but_time(one: &Node, other: &Node) -> bool {
    match (one, other) {
        (
            Node::File { blob, mode, .. },
            Node::File {
                blob: same_blob,
                mode: same_mode,
                ..
            },
        ) => blob == same_blob && mode == same_mode,
        (
            Node::Absent | Node::File { .. } | Node::Folder { .. } | Node::Link { .. },
            Node::Absent | Node::File { .. } | Node::Folder { .. } | Node::Link { .. },
        ) => false,
    }
}

/// Names in folders that are to go which the entry knows nothing of: they would go with them.
pub(super) fn strangers(
    dir: &Dir,
    steps: &[Step],
    direction: Direction,
) -> Result<Vec<String>, FileError> {
    let known: BTreeSet<&Path> = steps.iter().map(|step| &*step.path.0).collect();
    let mut found = Vec::new();
    for step in steps.iter().filter(|step| !step.made) {
        let path = &step.path.0;
        let from_folder = matches!(step.to(direction.opposite()), Node::Folder { .. });
        if !from_folder || matches!(step.to(direction), Node::Folder { .. }) {
            continue;
        }
        let names = match dir.folder(path).and_then(|folder| folder.names()) {
            Err(error) if is_absence(&error) => continue,
            other => other.map_err(|error| FileError::from_io(shown(path), &error))?,
        };
        let strange = names.iter().map(|name| path.join(name));
        found.extend(
            strange
                .filter(|path| !known.contains(path.as_path()))
                .map(|path| shown(&path)),
        );
    }
    Ok(found)
}
