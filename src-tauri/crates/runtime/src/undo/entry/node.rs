//! The node at a path, and whether it matches an entry.

use std::io;
use std::path::Path;

use protocol::history::Node;
use protocol::text::display_text::format_path_bytes;
use protocol::view::effects::{PathInfo, PathType};
use protocol::{Digest, ExactName};

use crate::fs::dir;
use crate::fs::dir::{Dir, FileStat};
use crate::fs::workspace::PathKind;
use crate::undo::permissions::UnlockedPaths;
use crate::undo::store::{CopyBatch, hash_reader};

/// Captures the node at a path; file contents go to `batch`. `None` for a pipe, socket or device, which cannot be
/// restored.
pub(in crate::undo) fn capture_node(
    from: &UnlockedPaths,
    rel: &Path,
    batch: &mut CopyBatch<'_>,
) -> io::Result<Option<Node>> {
    inspect_node(from, rel, |file, bytes| batch.put_file(file, bytes))
}

/// Reads the node at a path without a copy of its content.
pub(in crate::undo) fn observe_node(from: &UnlockedPaths, rel: &Path) -> io::Result<Option<Node>> {
    inspect_node(from, rel, |file, _| hash_reader(file))
}

fn inspect_node(
    from: &UnlockedPaths,
    rel: &Path,
    content: impl FnOnce(&mut std::fs::File, u64) -> io::Result<(Digest, u64)>,
) -> io::Result<Option<Node>> {
    let Some(stat) = from.stat(rel)? else {
        return Ok(Some(Node::Absent));
    };
    let dir = from.dir();
    Ok(match stat.kind {
        PathKind::File => {
            let (blob, bytes) = content(&mut open_file_at(dir, rel)?, stat.bytes)?;
            Some(Node::File {
                blob,
                bytes,
                mode: stat.mode,
                mtime_ns: stat.mtime_ns,
            })
        }
        PathKind::Folder => Some(Node::Folder {
            mode: stat.mode,
            mtime_ns: stat.mtime_ns,
        }),
        PathKind::Link => Some(Node::Link {
            target: read_link_at(dir, rel)?,
            mtime_ns: stat.mtime_ns,
        }),
        PathKind::Special => None,
    })
}

/// How closely a path must match a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchLevel {
    /// Kind, content and mode.
    Exact,
    /// Kind, content and the mode of files: a folder that is being restored gets its mode last.
    InProgress,
    /// Kind and content: the modes after the effect are not known yet.
    Loose,
}

/// Whether a path matches `node`. Times do not count.
pub(in crate::undo) fn matches_node(
    from: &UnlockedPaths,
    rel: &Path,
    node: &Node,
    fit: MatchLevel,
) -> io::Result<bool> {
    let Some(stat) = from.stat(rel)? else {
        return Ok(*node == Node::Absent);
    };
    let dir = from.dir();
    let mode_fits = |mode: u32| stat.mode == mode;
    match node {
        Node::Absent => Ok(false),
        Node::Folder { mode, .. } => {
            Ok(stat.kind == PathKind::Folder && (fit != MatchLevel::Exact || mode_fits(*mode)))
        }
        Node::Link { target, .. } => {
            Ok(stat.kind == PathKind::Link && read_link_at(dir, rel)? == *target)
        }
        Node::File {
            blob, bytes, mode, ..
        } => {
            if stat.kind != PathKind::File || stat.bytes != *bytes {
                return Ok(false);
            }
            if fit != MatchLevel::Loose && !mode_fits(*mode) {
                return Ok(false);
            }
            Ok(hash_reader(&mut open_file_at(dir, rel)?)?.0 == *blob)
        }
    }
}

/// Whether two nodes are equal. Times do not count.
pub(crate) fn is_same_node(one: &Node, other: &Node, fit: MatchLevel) -> bool {
    let modes = |one: u32, other: u32, counts: bool| !counts || one == other;
    match (one, other) {
        (Node::Absent, Node::Absent) => true,
        (
            Node::File { blob, mode, .. },
            Node::File {
                blob: other_blob,
                mode: other_mode,
                ..
            },
        ) => blob == other_blob && modes(*mode, *other_mode, fit != MatchLevel::Loose),
        (
            Node::Link { target, .. },
            Node::Link {
                target: other_target,
                ..
            },
        ) => target == other_target,
        (
            Node::Folder { mode, .. },
            Node::Folder {
                mode: other_mode, ..
            },
        ) => modes(*mode, *other_mode, fit == MatchLevel::Exact),
        (
            Node::Absent | Node::File { .. } | Node::Link { .. } | Node::Folder { .. },
            Node::Absent | Node::File { .. } | Node::Link { .. } | Node::Folder { .. },
        ) => false,
    }
}

/// Returns the modification time of a node; `None` for an absent one.
pub(in crate::undo) fn mtime_ns(node: &Node) -> Option<i64> {
    match node {
        Node::Absent => None,
        Node::File { mtime_ns, .. }
        | Node::Link { mtime_ns, .. }
        | Node::Folder { mtime_ns, .. } => Some(*mtime_ns),
    }
}

/// Returns the length of a file's content, in bytes; 0 for anything else.
pub(in crate::undo) fn content_bytes(node: &Node) -> u64 {
    match node {
        Node::File { bytes, .. } => *bytes,
        Node::Absent | Node::Folder { .. } | Node::Link { .. } => 0,
    }
}

/// Returns the node with the mode and the time that the path really has.
pub(in crate::undo) fn with_current_stat(node: &Node, stat: Option<FileStat>) -> Node {
    let mut node = node.clone();
    if let Some(stat) = stat {
        match &mut node {
            Node::Absent => {}
            Node::File { mode, mtime_ns, .. } | Node::Folder { mode, mtime_ns } => {
                (*mode, *mtime_ns) = (stat.mode, stat.mtime_ns);
            }
            Node::Link { mtime_ns, .. } => *mtime_ns = stat.mtime_ns,
        }
    }
    node
}

/// Describes a node for a person; `None` for an absent one.
pub(crate) fn describe_node(node: &Node) -> Option<PathInfo> {
    Some(match node {
        Node::Absent => return None,
        Node::File { bytes, mode, .. } => path_info(PathType::File, *bytes, *mode),
        Node::Folder { mode, .. } => path_info(PathType::Folder, 0, *mode),
        Node::Link { target, .. } => {
            let shown = format_path_bytes(target);
            PathInfo {
                target_exact: ExactName::from_bytes(&shown, target),
                target: Some(shown),
                ..path_info(PathType::Link, 0, 0o777)
            }
        }
    })
}

/// Builds what is shown of a path that is no link.
pub(crate) fn path_info(what: PathType, bytes: u64, mode: u32) -> PathInfo {
    PathInfo {
        what,
        bytes,
        mode,
        target: None,
        target_exact: None,
    }
}

fn open_file_at(dir: &Dir, rel: &Path) -> io::Result<std::fs::File> {
    let file = dir.open_file(rel)?;
    if dir::open_file_kind(&file)? == PathKind::File {
        Ok(file)
    } else {
        Err(io::Error::other("it was replaced while it was looked at"))
    }
}

fn read_link_at(dir: &Dir, rel: &Path) -> io::Result<Vec<u8>> {
    let (parent, name) = dir::split_parent(rel).ok_or(io::ErrorKind::InvalidInput)?;
    dir.open_folder(parent)?.read_link(name)
}
