//! Brings every path of an entry to one side: all copies staged first, then removals, then creations, then times.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use protocol::history::Node;

use super::Direction;
use super::manifest::Step;
use super::node::{self, Fit};
use super::store::{Store, copy_to_new};
use crate::dir::{self, Dir, is_absence};
use crate::error::is_link_refused;
use crate::files::{PathKind, shown};
use crate::limits::SYNC_SINGLY_MAX;
use crate::steps::between;
use crate::temp::Tag;
use crate::{FileError, Workspace};

/// Where a path stands between the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    /// There already.
    There,
    /// Still on the other side.
    Here,
    /// On neither: somebody else changed it.
    Elsewhere,
}

/// Where every path stands on the way in `direction`.
pub(super) fn survey(
    dir: &Dir,
    steps: &[Step],
    direction: Direction,
    fit: Fit,
) -> Result<Vec<Stand>, FileError> {
    let from = direction.opposite();
    let stand = |step: &Step| -> io::Result<Stand> {
        let path = &step.path.0;
        let fit = if step.made { Fit::Loose } else { fit };
        Ok(if node::fits(dir, path, step.to(direction), fit)? {
            // Written over with the same: only its time differs, so it has still to go.
            if same_but_time(&step.before, &step.after) {
                Stand::Here
            } else {
                Stand::There
            }
        } else if node::fits(dir, path, step.to(from), fit)?
            || fit != Fit::Exact
                && step.passes_absence()
                && node::fits(dir, path, &Node::Absent, fit)?
        {
            Stand::Here
        } else {
            Stand::Elsewhere
        })
    };
    steps
        .iter()
        .map(|step| stand(step).map_err(|error| FileError::from_io(shown(&step.path.0), &error)))
        .collect()
}

fn same_but_time(one: &Node, other: &Node) -> bool {
    match (one, other) {
        (
            Node::File { blob, mode, .. },
            Node::File {
                blob: same_blob,
                mode: same_mode,
                ..
            },
        ) => blob == same_blob && mode == same_mode,
        (
            Node::Absent | Node::File { .. } | Node::Folder { .. } | Node::Link { .. },
            Node::Absent | Node::File { .. } | Node::Folder { .. } | Node::Link { .. },
        ) => false,
    }
}

/// Names in folders that are to go which the entry knows nothing of: they would go with them.
pub(super) fn strangers(
    dir: &Dir,
    steps: &[Step],
    direction: Direction,
) -> Result<Vec<String>, FileError> {
    let known: BTreeSet<&Path> = steps.iter().map(|step| &*step.path.0).collect();
    let mut found = Vec::new();
    for step in steps.iter().filter(|step| !step.made) {
        let path = &step.path.0;
        let from_folder = matches!(step.to(direction.opposite()), Node::Folder { .. });
        if !from_folder || matches!(step.to(direction), Node::Folder { .. }) {
            continue;
        }
        let names = match dir.folder(path).and_then(|folder| folder.names()) {
            Err(error) if is_absence(&error) => continue,
            other => other.map_err(|error| FileError::from_io(shown(path), &error))?,
        };
        let strange = names.iter().map(|name| path.join(name));
        found.extend(
            strange
                .filter(|path| !known.contains(path.as_path()))
                .map(|path| shown(&path)),
        );
    }
    Ok(found)
}

/// Where the bytes come from.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// By what is in them.
    Store(&'a Store),
    /// By their place: a folder laid out as the workspace.
    Layer(&'a Dir),
}

/// One journey of these steps to one side.
pub(super) struct Carry<'a> {
    pub workspace: &'a Workspace,
    pub source: Source<'a>,
    pub steps: &'a [Step],
    pub direction: Direction,
    pub tag: Tag,
    /// Whether this finishes what was begun before: folders that are there may still lack their mode and time.
    pub again: bool,
}

/// A staged file or link: where it lies, and where it goes.
struct Staged<'a> {
    folder: Dir,
    temp: OsString,
    step: &'a Step,
}

impl<'a> Carry<'a> {
    /// Copies are all on disk before the first path changes, so a full disk is found out in time.
    pub(super) fn stage_and_go(
        &self,
        stands: &[Stand],
        folders: &[(PathBuf, i64)],
    ) -> Result<(), FileError> {
        let moving: Vec<&Step> = self
            .steps
            .iter()
            .zip(stands)
            .filter(|(_, stand)| **stand == Stand::Here)
            .map(|(step, _)| step)
            .collect();
        let staged = self.stage(&moving)?;
        for step in moving.iter().rev() {
            self.remove(step).map_err(|error| failed(step, &error))?;
        }
        let mut staged = staged.into_iter().peekable();
        for step in &moving {
            let placed = match step.to(self.direction) {
                Node::Absent => Ok(()),
                Node::Folder { .. } => self.make_folder(step),
                Node::File { .. } | Node::Link { .. } => staged
                    .next_if(|staged| std::ptr::eq(staged.step, *step))
                    .map_or(Ok(()), |staged| self.place(&staged)),
            };
            placed.map_err(|error| failed(step, &error))?;
        }
        self.finish_folders(stands, folders)?;
        self.sync(&moving, folders)
    }

    fn root(&self) -> &Dir {
        self.workspace.dir()
    }

    fn stage(&self, moving: &[&'a Step]) -> Result<Vec<Staged<'a>>, FileError> {
        let mut staged = Vec::new();
        let files = moving
            .iter()
            .filter(|step| matches!(step.to(self.direction), Node::File { .. }));
        let many = files.count() > SYNC_SINGLY_MAX;
        for step in moving {
            let one = self.stage_one(step, staged.len(), !many);
            staged.extend(one.map_err(|error| failed(step, &error))?);
        }
        if many {
            let synced = self.root().sync_everything();
            let synced = synced.map_err(|error| FileError::from_io("the workspace", &error))?;
            if !synced {
                for staged in &staged {
                    let file = staged.folder.file(Path::new(&staged.temp));
                    file.and_then(|file| file.sync_all())
                        .map_err(|error| failed(staged.step, &error))?;
                }
            }
        }
        Ok(staged)
    }

    fn stage_one(
        &self,
        step: &'a Step,
        number: usize,
        sync: bool,
    ) -> io::Result<Option<Staged<'a>>> {
        let (mtime_ns, link) = match step.to(self.direction) {
            Node::Absent | Node::Folder { .. } => return Ok(None),
            Node::File { mtime_ns, .. } => (*mtime_ns, None),
            Node::Link { target, mtime_ns } => (*mtime_ns, Some(target)),
        };
        let folder = self.nearest_folder(&step.path.0)?;
        let temp = self.tag.name(number);
        folder.remove_tree(&temp)?;
        if let Some(target) = link {
            folder.create_link(&temp, target)?;
            folder.set_mtime_of(&temp, mtime_ns)?;
        } else if let Node::File { blob, mode, .. } = step.to(self.direction) {
            let mut file = folder.create(&temp, Some(*mode))?;
            match self.source {
                Source::Store(store) => store.copy_to(blob, &mut file)?,
                Source::Layer(layer) => {
                    copy_to_new(&mut layer.file(&step.path.0)?, blob, &mut file)?;
                }
            }
            step.traits_to(self.direction).give(&file, *mode);
            folder.set_mtime_of(&temp, mtime_ns)?;
            if sync {
                file.sync_all()?;
            }
        }
        between()?;
        Ok(Some(Staged { folder, temp, step }))
    }

    /// The nearest folder above a path that is there now: it is not one of those that go.
    fn nearest_folder(&self, path: &Path) -> io::Result<Dir> {
        for above in path.ancestors().skip(1) {
            match self.root().folder(above) {
                // A link goes, where something is to come below it.
                Err(error) if is_absence(&error) || is_link_refused(&error) => {}
                other => return other,
            }
        }
        Ok(self.root().clone())
    }

    /// Removes what stands at a path, where nothing or something of another kind is to come.
    fn remove(&self, step: &Step) -> io::Result<()> {
        let Some((parent, name)) = dir::split(&step.path.0) else {
            return Ok(());
        };
        let folder = match self.root().folder(parent) {
            // Below a link that goes stands nothing of ours.
            Err(error) if is_absence(&error) || is_link_refused(&error) => return Ok(()),
            other => other?,
        };
        let Some(stat) = folder.stat(name)? else {
            return Ok(());
        };
        let goes = match step.to(self.direction) {
            Node::Absent => true,
            Node::Folder { .. } => stat.kind != PathKind::Folder,
            // A rename replaces a file or link in one step.
            Node::File { .. } | Node::Link { .. } => stat.kind == PathKind::Folder,
        };
        if !goes {
            return Ok(());
        }
        if stat.kind == PathKind::Folder {
            match folder.remove_folder(name) {
                Err(error) if step.made && error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                other => other?,
            }
        } else {
            folder.remove_file(name)?;
        }
        between()
    }

    fn make_folder(&self, step: &Step) -> io::Result<()> {
        let Some((parent, name)) = dir::split(&step.path.0) else {
            return Ok(());
        };
        let folder = self.root().folder(parent)?;
        if folder.stat(name)?.is_none() {
            folder.create_folder(name, 0o700)?;
        }
        between()
    }

    fn place(&self, staged: &Staged<'_>) -> io::Result<()> {
        let Some((parent, name)) = dir::split(&staged.step.path.0) else {
            return Ok(());
        };
        let folder = self.root().folder(parent)?;
        staged.folder.rename_to(&staged.temp, &folder, name)?;
        between()
    }

    /// Modes and times of folders come last and from the inside out: everything before changed them.
    fn finish_folders(
        &self,
        stands: &[Stand],
        folders: &[(PathBuf, i64)],
    ) -> Result<(), FileError> {
        for (step, stand) in self.steps.iter().zip(stands).rev() {
            let Node::Folder { mode, mtime_ns } = step.to(self.direction) else {
                continue;
            };
            let goes = match stand {
                Stand::Here => true,
                Stand::There => self.again,
                Stand::Elsewhere => false,
            };
            if !goes {
                continue;
            }
            let traits = step.traits_to(self.direction);
            let finished = self.root().folder(&step.path.0).and_then(|folder| {
                if !traits.is_plain() {
                    traits.give(&self.root().file(&step.path.0)?, *mode);
                }
                folder.set_mtime(*mtime_ns)?;
                folder.set_mode(*mode)
            });
            finished.map_err(|error| failed(step, &error))?;
        }
        let named = |path: &Path, error: io::Error| FileError::from_io(shown(path), &error);
        for (path, mtime_ns) in folders {
            let folder = self.root().folder(path);
            match folder.and_then(|folder| folder.set_mtime(*mtime_ns)) {
                // Somebody took it away meanwhile.
                Err(error) if is_absence(&error) => {}
                other => other.map_err(|error| named(path, error))?,
            }
        }
        between().map_err(|error| named(Path::new(""), error))
    }

    fn sync(&self, moving: &[&Step], folders: &[(PathBuf, i64)]) -> Result<(), FileError> {
        let failed = |error: io::Error| FileError::from_io("the workspace", &error);
        if moving.len() > SYNC_SINGLY_MAX && self.root().sync_everything().map_err(failed)? {
            return Ok(());
        }
        let parents = moving.iter().filter_map(|step| step.path.0.parent());
        let touched = folders.iter().map(|(path, _)| path.as_path());
        for path in parents.chain(touched).collect::<BTreeSet<_>>() {
            match self.root().folder(path).and_then(|folder| folder.sync()) {
                Err(error) if is_absence(&error) || is_link_refused(&error) => {}
                other => other.map_err(failed)?,
            }
        }
        Ok(())
    }
}

fn failed(step: &Step, error: &io::Error) -> FileError {
    FileError::from_io(shown(&step.path.0), error)
}
