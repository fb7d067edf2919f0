//! What a command changed: its layer against the workspace, path by path, in the words of the kernel's overlay.
//!
//! A name that is gone is a device with the number 0. A folder that was replaced is marked, and hides all that lies below
//! it in the workspace, at every depth. Everything else in the layer stands where it lies.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use protocol::Digest;
use protocol::history::Node;

use super::copy::Copied;
use crate::FileError;
use crate::dir::{Details, Dir, kind_of_open};
use crate::files::{PathKind, shown};
use crate::limits::{LAYER_PATHS_MAX, LOOK_BYTES_MAX, TREE_DEPTH_MAX};

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

const NOTHING: Thing = Thing::Node(Node::Absent);
/// How a folder is marked whose content below is hidden, and one in which names that are gone are marked files.
const OPAQUE: (&str, &[u8], &[u8]) = ("user.overlay.opaque", b"y", b"x");
const GONE: &str = "user.overlay.whiteout";
/// Marks of layers that are not laid out as the workspace is. No room is made so.
const ELSEWHERE: [&str; 2] = ["user.overlay.redirect", "user.overlay.metacopy"];

/// Everything that is different in a layer, in order of the paths. `began_ns` is when the command began: what changed in
/// the workspace since is not what the command saw. `copied` is there where the layer is a copy of the whole workspace.
pub(super) fn look(
    upper: &Path,
    lower: &Dir,
    began_ns: i64,
    copied: Option<&Copied>,
) -> Result<Vec<Change>, FileError> {
    let failed = |error: io::Error| FileError::from_io("the layer of the command", &error);
    let upper = Dir::open(upper).map_err(failed)?;
    let mut look = Look {
        changes: Vec::new(),
        bytes: 0,
        began_ns,
        copied,
    };
    let (was, is) = (
        lower.stat_self().map_err(failed)?,
        upper.stat_self().map_err(failed)?,
    );
    if was.mode != is.mode {
        let folder = |stat: crate::dir::Stat| {
            Thing::Node(Node::Folder {
                mode: stat.mode,
                mtime_ns: stat.mtime_ns,
            })
        };
        look.add(Path::new(""), folder(was), folder(is), (false, false))?;
    }
    look.walk(&upper, Some(lower), Path::new(""), copied.is_some(), 0)?;
    Ok(look.changes)
}

struct Look<'a> {
    changes: Vec<Change>,
    bytes: u64,
    began_ns: i64,
    copied: Option<&'a Copied>,
}

impl Look<'_> {
    /// A folder of the layer. `hidden`: nothing of what lies below it in the workspace shows through.
    fn walk(
        &mut self,
        upper: &Dir,
        lower: Option<&Dir>,
        at: &Path,
        hidden: bool,
        depth: usize,
    ) -> Result<(), FileError> {
        let failed = |error: io::Error| FileError::from_io(shown(at), &error);
        if depth > TREE_DEPTH_MAX {
            return Err(too_much(&format!(
                "it made folders deeper than {TREE_DEPTH_MAX} levels"
            )));
        }
        let (replaced, gone_by_mark) = self.marks(upper).map_err(failed)?;
        let hidden = hidden || replaced;
        let mut names: BTreeSet<OsString> = upper.names().map_err(failed)?.into_iter().collect();
        if hidden && let Some(lower) = lower {
            let below = lower.names().map_err(failed)?;
            // What came to the workspace after it was copied is not what went from the copy.
            let was_seen = |name: &OsString| self.copied.is_none_or(|it| it.has(&at.join(name)));
            names.extend(below.into_iter().filter(was_seen));
        }
        for name in names {
            let path = at.join(&name);
            let failed = |error: io::Error| FileError::from_io(shown(&path), &error);
            let was = match lower {
                Some(lower) => lower
                    .details(&name)
                    .map_err(failed)?
                    .map(|was| (lower, was)),
                None => None,
            };
            let is = upper.details(&name).map_err(failed)?;
            if let (Some(is), Some(copied)) = (&is, self.copied) {
                if copied.is_untouched(&path, is) {
                    continue;
                }
                if was.is_none() && copied.has(&path) {
                    return Err(FileError::Changed { path: shown(&path) });
                }
            }
            let is = match is {
                Some(is) if is.is_gone && self.copied.is_none() => None,
                Some(is)
                    if gone_by_mark
                        && is.stat.kind == PathKind::File
                        && is.stat.bytes == 0
                        && !upper.mark_of(&name, GONE).map_err(failed)?.is_empty() =>
                {
                    None
                }
                other => other,
            };
            let one = Named {
                name: &name,
                path: &path,
                depth,
            };
            match (is, was) {
                (None, None) => {}
                (None, Some(was)) => self.goes(one, was, &NOTHING)?,
                (Some(is), was) => self.stands(one, (upper, is), was, hidden)?,
            }
        }
        Ok(())
    }

    /// What the kernel says of a folder of the layer: that it was replaced, and that names that are gone are marked files. In
    /// a copy it says nothing.
    fn marks(&self, upper: &Dir) -> io::Result<(bool, bool)> {
        if self.copied.is_some() {
            return Ok((false, false));
        }
        for mark in ELSEWHERE {
            if !upper.mark(mark)?.is_empty() {
                return Err(io::Error::other("its layer cannot be read"));
            }
        }
        let mark = upper.mark(OPAQUE.0)?;
        Ok((mark == OPAQUE.1, mark == OPAQUE.2))
    }

    /// What came to stand at a name, or still stands there.
    fn stands(
        &mut self,
        one: Named<'_>,
        (upper, is): (&Dir, Details),
        was: Option<(&Dir, Details)>,
        hidden: bool,
    ) -> Result<(), FileError> {
        let failed = |error: io::Error| FileError::from_io(shown(one.path), &error);
        open_up(upper, one.name, is).map_err(failed)?;
        let after = self.thing(upper, one, is)?;
        let is_folder = is.stat.kind == PathKind::Folder;
        let (before, lower) = match was {
            None => (NOTHING, None),
            Some((lower, was)) if was.stat.kind == PathKind::Folder => {
                if !is_folder {
                    return self.goes(one, (lower, was), &after);
                }
                let below = lower.folder(Path::new(one.name)).map_err(failed)?;
                (self.thing(lower, one, was)?, Some(below))
            }
            Some((lower, was)) => {
                self.saw(one.path, &was)?;
                (self.thing(lower, one, was)?, None)
            }
        };
        let more_names = (
            was.is_some_and(|(_, was)| was.has_more_names()),
            is.has_more_names(),
        );
        self.add(one.path, before, after, more_names)?;
        if !is_folder {
            return Ok(());
        }
        let upper = upper.folder(Path::new(one.name)).map_err(failed)?;
        self.walk(&upper, lower.as_ref(), one.path, hidden, one.depth + 1)
    }

    /// What goes from a name, with all that is below it, whole.
    fn goes(
        &mut self,
        one: Named<'_>,
        (lower, was): (&Dir, Details),
        after: &Thing,
    ) -> Result<(), FileError> {
        self.saw(one.path, &was)?;
        let before = self.thing(lower, one, was)?;
        self.add(
            one.path,
            before,
            after.clone(),
            (was.has_more_names(), false),
        )?;
        if was.stat.kind != PathKind::Folder {
            return Ok(());
        }
        let failed = |error: io::Error| FileError::from_io(shown(one.path), &error);
        let folder = lower.folder(Path::new(one.name)).map_err(failed)?;
        for name in folder.names().map_err(failed)? {
            let path = one.path.join(&name);
            let found = folder.details(&name);
            let found = found.map_err(|error| FileError::from_io(shown(&path), &error))?;
            if let Some(was) = found {
                let below = Named {
                    name: &name,
                    path: &path,
                    depth: one.depth + 1,
                };
                self.goes(below, (&folder, was), &NOTHING)?;
            }
        }
        Ok(())
    }

    /// Refuses what is no longer as the command saw it. Of a folder that stays only names came or went, and those are
    /// looked at one by one.
    fn saw(&self, path: &Path, was: &Details) -> Result<(), FileError> {
        match was.changed_ns > self.began_ns {
            true => Err(FileError::Changed { path: shown(path) }),
            false => Ok(()),
        }
    }

    fn thing(&mut self, dir: &Dir, one: Named<'_>, found: Details) -> Result<Thing, FileError> {
        let failed = |error: io::Error| FileError::from_io(shown(one.path), &error);
        let (mode, mtime_ns) = (found.stat.mode, found.stat.mtime_ns);
        Ok(Thing::Node(match found.stat.kind {
            PathKind::Special => return Ok(Thing::Special(mode)),
            PathKind::Folder => Node::Folder { mode, mtime_ns },
            PathKind::Link => Node::Link {
                target: dir.link_target(one.name).map_err(failed)?,
                mtime_ns,
            },
            PathKind::File => {
                self.bytes = self.bytes.saturating_add(found.stat.bytes);
                if self.bytes > LOOK_BYTES_MAX {
                    let max = LOOK_BYTES_MAX >> 20;
                    return Err(too_much(&format!(
                        "what it changed is longer than {max} MiB, before and after together"
                    )));
                }
                let mut file = dir.file(Path::new(one.name)).map_err(failed)?;
                if kind_of_open(&file).map_err(failed)? != PathKind::File {
                    let path = shown(one.path);
                    return Err(FileError::Changed { path });
                }
                let (blob, bytes) = hashed(&mut file).map_err(failed)?;
                Node::File {
                    blob,
                    bytes,
                    mode,
                    mtime_ns,
                }
            }
        }))
    }

    fn add(
        &mut self,
        path: &Path,
        before: Thing,
        after: Thing,
        more_names: (bool, bool),
    ) -> Result<(), FileError> {
        if is_same(&before, &after) {
            return Ok(());
        }
        if self.changes.len() >= LAYER_PATHS_MAX {
            return Err(too_much(&format!(
                "it changed more than {LAYER_PATHS_MAX} paths"
            )));
        }
        self.changes.push(Change {
            path: path.to_owned(),
            before,
            after,
            more_names,
        });
        Ok(())
    }
}

/// A name that is looked at.
#[derive(Clone, Copy)]
struct Named<'a> {
    name: &'a OsStr,
    path: &'a Path,
    depth: usize,
}

/// The layer is ours, so we may read in it what the command let nobody read.
fn open_up(upper: &Dir, name: &OsStr, is: Details) -> io::Result<()> {
    let needed = match is.stat.kind {
        PathKind::File => 0o400,
        PathKind::Folder => 0o700,
        PathKind::Link | PathKind::Special => return Ok(()),
    };
    if is.stat.mode & needed == needed {
        return Ok(());
    }
    upper.set_mode_of(name, is.stat.mode | needed)
}

/// Whether nothing changed that is carried out. The time of a file counts, since programs go by it; that of a folder or a
/// link changes with whatever is done there.
fn is_same(before: &Thing, after: &Thing) -> bool {
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

fn hashed(file: &mut File) -> io::Result<(Digest, u64)> {
    let mut hasher = blake3::Hasher::new();
    let length = io::copy(file, &mut hasher)?;
    Ok((Digest::of_hash(&hasher.finalize()), length))
}

/// What a person is told of a command that did more than can be looked at.
pub(super) fn too_much(why: &str) -> FileError {
    FileError::NoRoom {
        reason: format!(
            "The command did more than can be shown: {why}. Nothing was changed. Let it do less at once, or run it for real."
        ),
    }
}
