//! A path that is not as the history left it: its three sides, and the choices that a person has.

use std::io::Read;
use std::path::Path;

use protocol::history::{Conflict, ConflictChoice, Node};
use protocol::view::effects::{PathInfo, PathType};

use crate::fs::dir::Dir;
use crate::fs::workspace::display_path;
use crate::limits::MERGE_BYTES_MAX;
use crate::undo::entry::node;
use crate::undo::restore::merge::{MergedText, merge_texts};
use crate::undo::store::CopyStore;

/// The node that the history left, the one that it would restore, and the one that stands there now.
pub(in crate::undo) struct ConflictSides<'a> {
    pub left: &'a Node,
    pub wanted: &'a Node,
    /// `None` for an entry that cannot be restored: a pipe, a socket, a device.
    pub now: Option<&'a Node>,
}

/// A conflict with its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathConflict {
    /// The conflict as shown to a person, without differences.
    pub conflict: Conflict,
    /// The current and the restored text, where both are short.
    pub texts: Option<(Vec<u8>, Vec<u8>)>,
    /// Both changes merged; `None` where they cannot be.
    pub merged: Option<Vec<u8>>,
}

impl PathConflict {
    pub(in crate::undo) fn from_sides(
        dir: &Dir,
        store: &CopyStore,
        path: &Path,
        sides: &ConflictSides<'_>,
    ) -> Self {
        let content = |node: Option<&Node>| read_short_content(dir, store, path, node?);
        let (left, wanted, now) = (
            content(Some(sides.left)),
            content(Some(sides.wanted)),
            content(sides.now),
        );
        let merged = match (&left, &now, &wanted) {
            (Some(base), Some(mine), Some(theirs)) => merge_texts(base, mine, theirs),
            _ => None,
        };
        let mut choices = vec![ConflictChoice::Keep];
        if sides.now.is_some() {
            choices.push(ConflictChoice::Restore);
        }
        if merged.is_some() {
            choices.push(ConflictChoice::Merge);
        }
        Self {
            conflict: Conflict {
                path: display_path(path),
                left: node::describe_node(sides.left),
                wanted: node::describe_node(sides.wanted),
                now: describe_current(sides.now),
                choices,
                restored: None,
                merged: None,
            },
            texts: now.zip(wanted),
            merged,
        }
    }
}

/// Describes the current node of a path for a person.
pub(in crate::undo) fn describe_current(now: Option<&Node>) -> Option<PathInfo> {
    match now {
        Some(node) => node::describe_node(node),
        None => Some(node::path_info(PathType::Special, 0, 0)),
    }
}

/// Reads the content of a short file: from the store, or from its path.
fn read_short_content(dir: &Dir, store: &CopyStore, path: &Path, node: &Node) -> Option<Vec<u8>> {
    let Node::File { blob, bytes, .. } = node else {
        return None;
    };
    if *bytes > MERGE_BYTES_MAX {
        return None;
    }
    if let Ok(content) = store.read_content(blob, MERGE_BYTES_MAX) {
        return Some(content);
    }
    let mut content = Vec::new();
    let file = dir.open_file(path).ok()?;
    file.take(MERGE_BYTES_MAX + 1)
        .read_to_end(&mut content)
        .ok()?;
    (protocol::Digest::from_bytes(&content) == *blob).then_some(content)
}

impl MergedText {
    /// Returns the node of the merged file: with the mode that only one of both changed.
    pub(in crate::undo) fn merged_node(
        &self,
        left: &Node,
        wanted: &Node,
        now: Option<&Node>,
        mtime_ns: i64,
    ) -> Node {
        let mode = |node: &Node| match node {
            Node::File { mode, .. } => *mode,
            Node::Absent | Node::Folder { .. } | Node::Link { .. } => 0o644,
        };
        let now = now.map_or_else(|| mode(left), mode);
        Node::File {
            blob: self.blob.clone(),
            bytes: self.bytes.len() as u64,
            mode: if now == mode(left) { mode(wanted) } else { now },
            mtime_ns,
        }
    }
}
