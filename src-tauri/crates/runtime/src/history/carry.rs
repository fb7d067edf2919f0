//! Brings every path of an entry to one side: all copies staged first, then removals, then creations, then times.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use protocol::history::Node;

use super::Direction;
use super::manifest::Step;
use super::store::{Store, copy_to_new};
use super::survey::Stand;
use super::unlock::{Need, Unlocked};
use crate::FileError;
use crate::dir::{self, Dir, is_absence};
use crate::error::is_link_refused;
use crate::files::{PathKind, shown};
use crate::limits::SYNC_SINGLY_MAX;
use crate::steps::between;
use crate::temp::Tag;

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
    pub unlocked: &'a Unlocked,
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
        self.unlock(stands, &moving, folders)?;
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
        self.set_times(folders)?;
        let many = moving.len() > SYNC_SINGLY_MAX && dir::SYNCS_EVERYTHING;
        let closing = self.closing(stands);
        if !many {
            self.sync(&moving, &closing, folders)?;
        }
        self.close_folders(&closing, !many)?;
        if many {
            let synced = self.root().sync_everything();
            synced.map_err(|error| FileError::from_io("the workspace", &error))?;
        }
        Ok(())
    }

    /// Lets us change names where some come or go, and open the folders that get a mode or a time.
    fn unlock(
        &self,
        stands: &[Stand],
        moving: &[&Step],
        folders: &[(PathBuf, i64)],
    ) -> Result<(), FileError> {
        let parents = moving.iter().filter_map(|step| step.path.0.parent());
        let standing = self.steps.iter().zip(stands);
        let standing = standing.filter(|(_, stand)| **stand != Stand::Elsewhere);
        let standing = standing.map(|(step, _)| step.path.0.as_path());
        let touched = folders.iter().map(|(path, _)| path.as_path());
        let reads = standing.chain(touched).map(|path| (path, Need::Read));
        let changes = parents.map(|path| (path, Need::Change));
        self.unlocked.unlock(reads.chain(changes))
    }

    fn root(&self) -> &Dir {
        self.unlocked.dir()
    }

    fn stage(&self, moving: &[&'a Step]) -> Result<Vec<Staged<'a>>, FileError> {
        let mut staged = Vec::new();
        let files = moving
            .iter()
            .filter(|step| matches!(step.to(self.direction), Node::File { .. }));
        let many = files.count() > SYNC_SINGLY_MAX && dir::SYNCS_EVERYTHING;
        for step in moving {
            let one = self.stage_one(step, staged.len(), !many);
            staged.extend(one.map_err(|error| failed(step, &error))?);
        }
        if many {
            let synced = self.root().sync_everything();
            synced.map_err(|error| FileError::from_io("the workspace", &error))?;
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
        if folder.stat(name)?.is_none() {
            self.unlocked.keep_mode(&step.path.0);
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
        self.unlocked.keep_mode(&staged.step.path.0);
        between()
    }

    /// The folders that get a mode and a time, by their paths.
    fn closing(&self, stands: &[Stand]) -> BTreeMap<&'a Path, &'a Step> {
        let steps = self.steps.iter().zip(stands);
        let closing = steps.filter(|(step, stand)| {
            let is_moving = match stand {
                Stand::Here => true,
                Stand::There => self.again,
                Stand::Elsewhere => false,
            };
            is_moving && matches!(step.to(self.direction), Node::Folder { .. })
        });
        closing
            .map(|(step, _)| (step.path.0.as_path(), step))
            .collect()
    }

    /// Modes and times of folders come last and from the inside out: everything before changed them, and what is below one
    /// may be out of reach afterwards. So what was only unlocked is locked on the same way.
    fn close_folders(
        &self,
        closing: &BTreeMap<&'a Path, &'a Step>,
        sync: bool,
    ) -> Result<(), FileError> {
        let unlocked = self.unlocked.paths();
        let mut all: BTreeSet<&Path> = closing.keys().copied().collect();
        all.extend(unlocked.iter().map(PathBuf::as_path));
        for path in all.into_iter().rev() {
            let closed = match closing.get(path) {
                Some(step) => self.close_folder(step, sync),
                None => self.unlocked.lock_path(path, sync),
            };
            closed.map_err(|error| FileError::from_io(shown(path), &error))?;
        }
        between().map_err(|error| FileError::from_io("the workspace", &error))
    }

    fn close_folder(&self, step: &Step, sync: bool) -> io::Result<()> {
        let Node::Folder { mode, mtime_ns } = step.to(self.direction) else {
            return Ok(());
        };
        let folder = self.root().folder(&step.path.0)?;
        let traits = step.traits_to(self.direction);
        if !traits.is_plain() {
            traits.give(&self.root().file(&step.path.0)?, *mode);
        }
        folder.set_mtime(*mtime_ns)?;
        folder.set_mode(*mode)?;
        self.unlocked.keep_mode(&step.path.0);
        if sync { folder.sync() } else { Ok(()) }
    }

    fn set_times(&self, folders: &[(PathBuf, i64)]) -> Result<(), FileError> {
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

    /// Has the names in these folders on disk; those of folders that are closed later are then.
    fn sync(
        &self,
        moving: &[&Step],
        closing: &BTreeMap<&Path, &Step>,
        folders: &[(PathBuf, i64)],
    ) -> Result<(), FileError> {
        let failed = |error: io::Error| FileError::from_io("the workspace", &error);
        let parents = moving.iter().filter_map(|step| step.path.0.parent());
        let touched = folders.iter().map(|(path, _)| path.as_path());
        let mut all: BTreeSet<&Path> = parents.chain(touched).collect();
        all.retain(|path| !closing.contains_key(path));
        for path in all {
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
