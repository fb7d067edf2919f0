//! One path before and after a command.

use std::path::PathBuf;

use protocol::history::Node;

/// The content of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::dry_run) enum PathContent {
    /// A node that can be kept and restored, or nothing.
    Node(Node),
    /// A pipe, a socket or a device, with its permission bits.
    Special(u32),
}

/// One path that differs in the layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::dry_run) struct ChangedPath {
    pub path: PathBuf,
    pub before: PathContent,
    pub after: PathContent,
    pub has_hard_links: HardLinkedSides,
}

/// Whether a path is a file with more than one name, before and after a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::dry_run) struct HardLinkedSides {
    pub before: bool,
    pub after: bool,
}

/// Content of a path that does not exist.
pub(in crate::dry_run) const ABSENT: PathContent = PathContent::Node(Node::Absent);

/// Whether a path is unchanged in everything that is carried out. The time of a file counts, since programs go by it;
/// that of a folder or a link changes with any change in it.
pub(in crate::dry_run) fn is_unchanged(before: &PathContent, after: &PathContent) -> bool {
    match (before, after) {
        (
            PathContent::Node(Node::Folder { mode, .. }),
            PathContent::Node(Node::Folder { mode: same, .. }),
        ) => mode == same,
        (
            PathContent::Node(Node::Link { target, .. }),
            PathContent::Node(Node::Link { target: same, .. }),
        ) => target == same,
        (one, other) => one == other,
    }
}
