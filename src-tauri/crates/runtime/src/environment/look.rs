//! What a command changed: its layer against the workspace, path by path, in the words of the kernel's overlay; or the
//! workspace itself against a picture of it from before.
//!
//! A name that is gone is a device with the number 0. A folder that was replaced is marked, and hides all that lies below
//! it in the workspace, at every depth. Everything else in the layer stands where it lies.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use protocol::history::Node;

use super::attributes;
use super::change::{Change, NOTHING, Thing, is_same};
use super::copy::Copied;
use super::marks::{is_gone_by_mark, marks};
use super::reading::{Reading, Side};
use super::same::same_content;
use crate::FileError;
use crate::dir::{Details, Dir, SETS_FOLDER_TIMES, kind_of_open};
use crate::files::{PathKind, shown};
use crate::history::{Content, Unlock};
use crate::limits::{LAYER_PATHS_MAX, TREE_DEPTH_MAX};

/// What is looked at for what a command changed.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(target_os = "linux"),
    allow(
        dead_code,
        reason = "there are no layers, and no copies in their place"
    )
)]
pub(super) enum Upper<'a> {
    /// A layer of the kernel over the workspace.
    Layer,
    /// A copy of the workspace, in its place.
    Copy(&'a Copied),
    /// The workspace itself, over a picture of how it was before. What is marked was not touched since.
    Real(&'a Copied),
}

/// What is different.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// In order of the paths.
    pub changes: Vec<Change>,
    /// Folders of the workspace itself that stayed: their times before and after.
    pub folders: Vec<(PathBuf, i64, i64)>,
    /// Paths of which nothing but extended attributes is different.
    pub attributes: Vec<PathBuf>,
}

/// Everything that is different in `upper` from `lower`. `began_ns` is when the command began: what changed in `lower` since
/// is not what the command saw. Each content that is compared goes through `content`. What cannot be read in `upper` is opened by
/// `unlock`; without it `upper` is ours, and stays open.
pub(super) fn look(
    (kind, upper): (Upper<'_>, &Dir),
    lower: &Dir,
    began_ns: i64,
    content: Content<'_>,
    unlock: Option<Unlock<'_>>,
) -> Result<Looked, FileError> {
    let failed = |error: io::Error| FileError::from_io("the layer of the command", &error);
    let mut look = Look {
        looked: Looked::default(),
        reading: Reading::default(),
        began_ns,
        kind,
        content,
        unlock,
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
    let whole = !matches!(kind, Upper::Layer);
    look.walk(upper, Some(lower), Path::new(""), whole, 0)?;
    Ok(look.looked)
}

struct Look<'a> {
    looked: Looked,
    reading: Reading,
    began_ns: i64,
    kind: Upper<'a>,
    content: Content<'a>,
    unlock: Option<Unlock<'a>>,
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
            let why = format!("it made folders deeper than {TREE_DEPTH_MAX} levels");
            return Err(self.too_much(&why));
        }
        if let (Upper::Real(_), Some(lower), true) = (self.kind, lower, SETS_FOLDER_TIMES) {
            let (was, is) = (lower.stat_self(), upper.stat_self());
            let (was, is) = (was.map_err(failed)?, is.map_err(failed)?);
            let times = (at.to_owned(), was.mtime_ns, is.mtime_ns);
            self.looked.folders.push(times);
        }
        let (replaced, gone_by_mark) = marks(self.kind, upper).map_err(failed)?;
        let hidden = hidden || replaced;
        let mut names: BTreeSet<OsString> = upper.names().map_err(failed)?.into_iter().collect();
        if hidden && let Some(lower) = lower {
            let below = lower.names().map_err(failed)?;
            // What came to the workspace after it was copied is not what went from the copy.
            let was_seen = |name: &OsString| match self.kind {
                Upper::Copy(copied) => copied.has(&at.join(name)),
                Upper::Layer | Upper::Real(_) => true,
            };
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
            if let (Some(is), Upper::Copy(copied) | Upper::Real(copied)) = (&is, self.kind)
                && copied.is_untouched(&path, is)
            {
                continue;
            }
            if let (Some(_), None, Upper::Copy(copied)) = (&is, &was, self.kind)
                && copied.has(&path)
            {
                return Err(FileError::Changed { path: shown(&path) });
            }
            let is_layer = matches!(self.kind, Upper::Layer);
            let is = match is {
                Some(is) if is.is_gone && is_layer => None,
                Some(is)
                    if gone_by_mark
                        && is.stat.kind == PathKind::File
                        && is.stat.bytes == 0
                        && is_gone_by_mark(upper, &name).map_err(failed)? =>
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

    /// What came to stand at a name, or still stands there.
    fn stands(
        &mut self,
        one: Named<'_>,
        (upper, is): (&Dir, Details),
        was: Option<(&Dir, Details)>,
        hidden: bool,
    ) -> Result<(), FileError> {
        let failed = |error: io::Error| FileError::from_io(shown(one.path), &error);
        if let Some(mode) = is.stat.kind.opened(is.stat.mode) {
            match self.unlock {
                Some(unlock) => unlock(one.path)?,
                // It is ours, so we may read in it what the command let nobody read.
                None => upper.set_mode_of(one.name, mode).map_err(failed)?,
            }
        }
        if let (Upper::Real(_), Some((lower, was))) = (self.kind, was)
            && is.stat == was.stat
            && is.stat.kind == PathKind::File
            && same_content(upper, lower, one.name).map_err(failed)?
        {
            if attributes::differ(upper, lower, one.name) {
                self.looked.attributes.push(one.path.to_owned());
            }
            return Ok(());
        }
        let after = self.thing(Side::After, upper, one, is)?;
        let is_folder = is.stat.kind == PathKind::Folder;
        let (before, below) = match was {
            None => (NOTHING, None),
            Some((lower, was)) if was.stat.kind == PathKind::Folder => {
                if !is_folder {
                    return self.goes(one, (lower, was), &after);
                }
                let below = lower.folder(Path::new(one.name)).map_err(failed)?;
                (self.thing(Side::Before, lower, one, was)?, Some(below))
            }
            Some((lower, was)) => {
                self.saw(one.path, &was)?;
                (self.thing(Side::Before, lower, one, was)?, None)
            }
        };
        let more_names = (
            was.is_some_and(|(_, was)| was.has_more_names()),
            is.has_more_names(),
        );
        if let Some((lower, _)) = was.filter(|_| is_same(&before, &after))
            && matches!(is.stat.kind, PathKind::File | PathKind::Folder)
            && attributes::differ(upper, lower, one.name)
        {
            self.looked.attributes.push(one.path.to_owned());
        }
        self.add(one.path, before, after, more_names)?;
        if !is_folder {
            return Ok(());
        }
        let upper = upper.folder(Path::new(one.name)).map_err(failed)?;
        self.walk(&upper, below.as_ref(), one.path, hidden, one.depth + 1)
    }

    /// What goes from a name, with all that is below it, whole.
    fn goes(
        &mut self,
        one: Named<'_>,
        (lower, was): (&Dir, Details),
        after: &Thing,
    ) -> Result<(), FileError> {
        self.saw(one.path, &was)?;
        let before = self.thing(Side::Before, lower, one, was)?;
        self.add(
            one.path,
            before,
            after.clone(),
            (was.has_more_names(), false),
        )?;
        if was.stat.kind != PathKind::Folder {
            return Ok(());
        }
        let failed = |error: io::Error| self.not_read(Side::Before, one.path, &error);
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

    fn thing(
        &mut self,
        side: Side,
        dir: &Dir,
        one: Named<'_>,
        found: Details,
    ) -> Result<Thing, FileError> {
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
                let admitted = self.reading.admit(side, &found.stat);
                admitted.map_err(|why| self.too_much(&why))?;
                let opened = dir.file(Path::new(one.name));
                let mut file = opened.map_err(|error| self.not_read(side, one.path, &error))?;
                if kind_of_open(&file).map_err(failed)? != PathKind::File {
                    let path = shown(one.path);
                    return Err(FileError::Changed { path });
                }
                let taken = (self.content)(&mut file, found.stat.bytes);
                let (blob, bytes) = taken.map_err(failed)?;
                Node::File {
                    blob,
                    bytes,
                    mode,
                    mtime_ns,
                }
            }
        }))
    }

    /// What a person is told of something that could not be read. What was there before could not be brought back then.
    fn not_read(&self, side: Side, path: &Path, error: &io::Error) -> FileError {
        let is_locked = error.kind() == io::ErrorKind::PermissionDenied;
        let path = shown(path);
        match (side, self.kind) {
            (Side::Before, Upper::Layer | Upper::Copy(_)) if is_locked => FileError::NoRoom {
                reason: format!(
                    "The command changed `{path}`, which you may not read: what was there can be neither shown nor brought back. Nothing was changed. Give yourself the right to read it (`chmod u+rX`) and repeat, or run the command for real."
                ),
            },
            _ => FileError::from_io(path, error),
        }
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
        if self.looked.changes.len() >= LAYER_PATHS_MAX {
            let why = format!("it changed more than {LAYER_PATHS_MAX} paths");
            return Err(self.too_much(&why));
        }
        self.looked.changes.push(Change {
            path: path.to_owned(),
            before,
            after,
            more_names,
        });
        Ok(())
    }

    fn too_much(&self, why: &str) -> FileError {
        match self.kind {
            Upper::Layer | Upper::Copy(_) => too_much(why),
            Upper::Real(_) => FileError::other("what the command changed", why),
        }
    }
}

/// A name that is looked at.
#[derive(Clone, Copy)]
struct Named<'a> {
    name: &'a OsStr,
    path: &'a Path,
    depth: usize,
}

/// What a person is told of a command that did more than can be looked at.
pub(super) fn too_much(why: &str) -> FileError {
    FileError::NoRoom {
        reason: format!(
            "The command did more than can be shown: {why}. Nothing was changed. Let it do less at once, or run it for real."
        ),
    }
}
