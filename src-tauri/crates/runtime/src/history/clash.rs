//! A path that is not as the history left it: three sides, and what can be chosen.

use std::io::Read;
use std::path::Path;

use protocol::effects::{Standing, Thing};
use protocol::history::{Choice, Conflict, Node};

use super::merge::{Merged, merged};
use super::node;
use super::store::Store;
use crate::dir::Dir;
use crate::files::shown;
use crate::limits::MERGE_BYTES_MAX;

/// What the history left, what it would put there, and what stands there.
pub(super) struct Sides<'a> {
    pub left: &'a Node,
    pub wanted: &'a Node,
    /// None for what nobody can bring back: a pipe, a socket, a device.
    pub now: Option<&'a Node>,
}

/// A conflict with its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clash {
    /// As a person is told of it, without differences.
    pub conflict: Conflict,
    /// What stands there and what would come, where both are short.
    pub texts: Option<(Vec<u8>, Vec<u8>)>,
    /// Both changes together; none where that cannot be.
    pub merged: Option<Vec<u8>>,
}

impl Clash {
    pub(super) fn of(dir: &Dir, store: &Store, path: &Path, sides: &Sides<'_>) -> Self {
        let content = |node: Option<&Node>| content(dir, store, path, node?);
        let (left, wanted, now) = (
            content(Some(sides.left)),
            content(Some(sides.wanted)),
            content(sides.now),
        );
        let merged = match (&left, &now, &wanted) {
            (Some(base), Some(mine), Some(theirs)) => merged(base, mine, theirs),
            _ => None,
        };
        let mut choices = vec![Choice::Keep];
        if sides.now.is_some() {
            choices.push(Choice::Restore);
        }
        if merged.is_some() {
            choices.push(Choice::Merge);
        }
        Self {
            conflict: Conflict {
                path: shown(path),
                left: node::standing(sides.left),
                wanted: node::standing(sides.wanted),
                now: standing(sides.now),
                choices,
                restored: None,
                merged: None,
            },
            texts: now.zip(wanted),
            merged,
        }
    }
}

/// What a person is told of what stands there.
pub(super) fn standing(now: Option<&Node>) -> Option<Standing> {
    let special = Standing {
        what: Thing::Special,
        bytes: 0,
        mode: 0,
        target: None,
        target_exact: None,
    };
    now.map_or(Some(special), node::standing)
}

/// What is in a short file: from the store, or where it stands.
fn content(dir: &Dir, store: &Store, path: &Path, node: &Node) -> Option<Vec<u8>> {
    let Node::File { blob, bytes, .. } = node else {
        return None;
    };
    if *bytes > MERGE_BYTES_MAX {
        return None;
    }
    if let Ok(content) = store.read(blob, MERGE_BYTES_MAX) {
        return Some(content);
    }
    let mut content = Vec::new();
    let file = dir.file(path).ok()?;
    file.take(MERGE_BYTES_MAX + 1)
        .read_to_end(&mut content)
        .ok()?;
    (protocol::Digest::of(&content) == *blob).then_some(content)
}

impl Merged {
    /// The file that it becomes: with the mode that only one of both changed.
    pub(super) fn node(
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
