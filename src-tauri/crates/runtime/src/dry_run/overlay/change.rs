//! One path before and after a command.

use std::path::PathBuf;

use protocol::history::Node;

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::dry_run) enum PathContent {
    /// Something that can be kept and brought back, or nothing.
    Node(Node),
    /// A pipe, a socket or a device, with its permission bits.
    Special(u32),
}

/// One path that is different in the layer.
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

/// Nothing stands there.
pub(in crate::dry_run) const ABSENT: PathContent = PathContent::Node(Node::Absent);

/// Whether nothing changed that is carried out. The time of a file counts, since programs go by it; that of a folder or a
/// link changes with whatever is done there.
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
