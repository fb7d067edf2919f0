//! One path before and after a command.

use std::path::PathBuf;

use protocol::history::Node;

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Thing {
    /// Something that can be kept and brought back, or nothing.
    Node(Node),
    /// A pipe, a socket or a device, with its permission bits.
    Special(u32),
}

/// One path that is different in the layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub path: PathBuf,
    pub before: Thing,
    pub after: Thing,
    /// Whether it stood under more than one name, before or after.
    pub more_names: (bool, bool),
}

/// Nothing stands there.
pub(super) const NOTHING: Thing = Thing::Node(Node::Absent);

/// Whether nothing changed that is carried out. The time of a file counts, since programs go by it; that of a folder or a
/// link changes with whatever is done there.
pub(super) fn is_same(before: &Thing, after: &Thing) -> bool {
    match (before, after) {
        (Thing::Node(Node::Folder { mode, .. }), Thing::Node(Node::Folder { mode: same, .. })) => {
            mode == same
        }
        (Thing::Node(Node::Link { target, .. }), Thing::Node(Node::Link { target: same, .. })) => {
            target == same
        }
        (one, other) => one == other,
    }
}
