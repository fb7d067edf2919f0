//! What stands at a path, and whether it is what an entry says.

use std::io;
use std::path::Path;

use protocol::history::Node;

use super::store::{Batch, hashed};
use crate::dir::{self, Dir, Stat};
use crate::error::is_link_refused;
use crate::files::PathKind;

/// Reads what stands at a path; file contents go to `batch`. None: a pipe, socket or device, which nobody can bring back.
pub(super) fn read(dir: &Dir, rel: &Path, batch: &mut Batch<'_>) -> io::Result<Option<Node>> {
    let Some(stat) = stat(dir, rel)? else {
        return Ok(Some(Node::Absent));
    };
    Ok(match stat.kind {
        PathKind::File => {
            let mut file = open(dir, rel)?;
            let (blob, bytes) = batch.put_file(&mut file, stat.bytes)?;
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
pub(super) fn fits(dir: &Dir, rel: &Path, node: &Node, fit: Fit) -> io::Result<bool> {
    let stat = match stat(dir, rel) {
        // A link where a folder was: whatever the entry says, it is not that.
        Err(error) if is_link_refused(&error) => return Ok(false),
        other => other?,
    };
    let Some(stat) = stat else {
        return Ok(*node == Node::Absent);
    };
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

fn stat(dir: &Dir, rel: &Path) -> io::Result<Option<Stat>> {
    dir.stat_at(rel)
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
