//! What stands at a path, and whether it is what an entry says.

use std::io;
use std::path::Path;

use protocol::effects::{Standing, Thing};
use protocol::history::Node;
use protocol::{Digest, Exact};

use super::store::{Batch, hashed};
use super::unlock::Unlocked;
use crate::dir::{self, Dir, Stat};
use crate::files::PathKind;

/// Reads what stands at a path; file contents go to `batch`. None: a pipe, socket or device, which nobody can bring back.
pub(super) fn read(from: &Unlocked, rel: &Path, batch: &mut Batch<'_>) -> io::Result<Option<Node>> {
    look(from, rel, |file, bytes| batch.put_file(file, bytes))
}

/// The same without a copy of what is in a file.
pub(super) fn seen(from: &Unlocked, rel: &Path) -> io::Result<Option<Node>> {
    look(from, rel, |file, _| hashed(file))
}

fn look(
    from: &Unlocked,
    rel: &Path,
    content: impl FnOnce(&mut std::fs::File, u64) -> io::Result<(Digest, u64)>,
) -> io::Result<Option<Node>> {
    let Some(stat) = from.stat(rel)? else {
        return Ok(Some(Node::Absent));
    };
    let dir = from.dir();
    Ok(match stat.kind {
        PathKind::File => {
            let (blob, bytes) = content(&mut open(dir, rel)?, stat.bytes)?;
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
            target: link_target(dir, rel)?,
            mtime_ns: stat.mtime_ns,
        }),
        PathKind::Special => None,
    })
}

/// How closely something must fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    /// Kind, content and mode.
    Exact,
    /// Kind, content and the mode of files: a folder on its way gets its mode last.
    Underway,
    /// Kind and content: the modes after the effect are not known yet.
    Loose,
}

/// Whether a path is as `node` says. Times do not count.
pub(super) fn fits(from: &Unlocked, rel: &Path, node: &Node, fit: Fit) -> io::Result<bool> {
    let Some(stat) = from.stat(rel)? else {
        return Ok(*node == Node::Absent);
    };
    let dir = from.dir();
    let mode_fits = |mode: u32| stat.mode == mode;
    match node {
        Node::Absent => Ok(false),
        Node::Folder { mode, .. } => {
            Ok(stat.kind == PathKind::Folder && (fit != Fit::Exact || mode_fits(*mode)))
        }
        Node::Link { target, .. } => {
            Ok(stat.kind == PathKind::Link && link_target(dir, rel)? == *target)
        }
        Node::File {
            blob, bytes, mode, ..
        } => {
            if stat.kind != PathKind::File || stat.bytes != *bytes {
                return Ok(false);
            }
            if fit != Fit::Loose && !mode_fits(*mode) {
                return Ok(false);
            }
            Ok(hashed(&mut open(dir, rel)?)?.0 == *blob)
        }
    }
}

/// Whether two nodes are the same thing. Times do not count.
pub(super) fn same(one: &Node, other: &Node, fit: Fit) -> bool {
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
        ) => blob == other_blob && modes(*mode, *other_mode, fit != Fit::Loose),
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
        ) => modes(*mode, *other_mode, fit == Fit::Exact),
        (
            Node::Absent | Node::File { .. } | Node::Link { .. } | Node::Folder { .. },
            Node::Absent | Node::File { .. } | Node::Link { .. } | Node::Folder { .. },
        ) => false,
    }
}

/// When it was changed last; none for what is not there.
pub(super) fn mtime_ns(node: &Node) -> Option<i64> {
    match node {
        Node::Absent => None,
        Node::File { mtime_ns, .. }
        | Node::Link { mtime_ns, .. }
        | Node::Folder { mtime_ns, .. } => Some(*mtime_ns),
    }
}

/// Length of what is in a file, in bytes; 0 for anything else.
pub(super) fn bytes(node: &Node) -> u64 {
    match node {
        Node::File { bytes, .. } => *bytes,
        Node::Absent | Node::Folder { .. } | Node::Link { .. } => 0,
    }
}

/// The same thing as it really stands there: with that mode and that time.
pub(super) fn as_stands(node: &Node, stat: Option<Stat>) -> Node {
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

/// What a person is told of a node; none if it is nothing.
pub(super) fn standing(node: &Node) -> Option<Standing> {
    let (what, bytes, mode, target) = match node {
        Node::Absent => return None,
        Node::File { bytes, mode, .. } => (Thing::File, *bytes, *mode, None),
        Node::Folder { mode, .. } => (Thing::Folder, 0, *mode, None),
        Node::Link { target, .. } => {
            let told = String::from_utf8_lossy(target).into_owned();
            let exact = Exact::unless(&told, target);
            (Thing::Link, 0, 0o777, Some((told, exact)))
        }
    };
    let (target, target_exact) = target.unzip();
    Some(Standing {
        what,
        bytes,
        mode,
        target,
        target_exact: target_exact.flatten(),
    })
}

fn open(dir: &Dir, rel: &Path) -> io::Result<std::fs::File> {
    let file = dir.file(rel)?;
    if dir::kind_of_open(&file)? == PathKind::File {
        Ok(file)
    } else {
        Err(io::Error::other("it was replaced while it was looked at"))
    }
}

fn link_target(dir: &Dir, rel: &Path) -> io::Result<Vec<u8>> {
    let (parent, name) = dir::split(rel).ok_or(io::ErrorKind::InvalidInput)?;
    dir.folder(parent)?.link_target(name)
}
