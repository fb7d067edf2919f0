//! Brings every path of an entry to one side: all copies staged first, then removals, then creations, then times.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use protocol::history::Node;

use crate::FileError;
use crate::error::is_link_refused;
use crate::fs::at_path::AtPath as _;
use crate::fs::dir;
use crate::fs::dir::{Dir, is_not_found};
use crate::fs::fault_injection::crash_point;
use crate::fs::temp::TempTag;
use crate::fs::workspace::{PathKind, display_path};
use crate::limits::SYNC_SINGLY_MAX;
use crate::undo::UndoDirection;
use crate::undo::entry::manifest::UndoStep;
use crate::undo::permissions::{AccessNeed, UnlockedPaths};
use crate::undo::restore::survey::PathState;
use crate::undo::store::{CopyStore, copy_to_new};

/// The source of contents.
#[derive(Clone, Copy)]
pub(in crate::undo) enum ContentSource<'a> {
    /// The copies for undo, by digest.
    Store(&'a CopyStore),
    /// A folder laid out as the workspace, by path.
    Layer(&'a Dir),
}

/// One application of steps to one side.
pub(in crate::undo) struct StepApplier<'a> {
    pub unlocked: &'a UnlockedPaths,
    pub source: ContentSource<'a>,
    pub steps: &'a [UndoStep],
    pub direction: UndoDirection,
    pub tag: TempTag,
    /// Whether this resumes an interrupted application: existing folders may still lack their mode and time.
    pub is_resumed: bool,
}

/// A staged file or link: its temporary path and its target.
struct StagedEntry<'a> {
    folder: Dir,
    temp: OsString,
    step: &'a UndoStep,
}

impl<'a> StepApplier<'a> {
    /// Applies all steps. Copies are all on disk before the first path changes, so a full disk is detected in time.
    pub(in crate::undo) fn apply_all(
        &self,
        states: &[PathState],
        folders: &[(PathBuf, i64)],
    ) -> Result<(), FileError> {
        let moving: Vec<&UndoStep> = self
            .steps
            .iter()
            .zip(states)
            .filter(|(_, stand)| **stand == PathState::AtOrigin)
            .map(|(step, _)| step)
            .collect();
        self.unlock_folders(states, &moving, folders)?;
        let staged = self.stage_all(&moving)?;
        for step in moving.iter().rev() {
            self.remove_old_node(step)
                .map_err(|error| step_error(step, &error))?;
        }
        let mut staged = staged.into_iter().peekable();
        for step in &moving {
            let placed = match step.target_node(self.direction) {
                Node::Absent => Ok(()),
                Node::Folder { .. } => self.create_folder(step),
                Node::File { .. } | Node::Link { .. } => staged
                    .next_if(|staged| std::ptr::eq(staged.step, *step))
                    .map_or(Ok(()), |staged| self.place_staged(&staged)),
            };
            placed.map_err(|error| step_error(step, &error))?;
        }
        self.set_folder_times(folders)?;
        let many = moving.len() > SYNC_SINGLY_MAX && dir::CAN_SYNC_FILE_SYSTEM;
        let closing = self.folders_to_finalize(states);
        if !many {
            self.sync_folders(&moving, &closing, folders)?;
        }
        self.finalize_folders(&closing, !many)?;
        if many {
            self.root_dir().sync_file_system().at("the workspace")?;
        }
        Ok(())
    }

    /// Unlocks folders in which names are added or removed, and folders that get a mode or a time.
    fn unlock_folders(
        &self,
        states: &[PathState],
        moving: &[&UndoStep],
        folders: &[(PathBuf, i64)],
    ) -> Result<(), FileError> {
        let parents = moving.iter().filter_map(|step| step.path.0.parent());
        let steps = self.steps.iter().zip(states);
        let steps = steps.filter(|(_, stand)| **stand != PathState::Diverged);
        let steps = steps.map(|(step, _)| step.path.0.as_path());
        let touched = folders.iter().map(|(path, _)| path.as_path());
        let reads = steps.chain(touched).map(|path| (path, AccessNeed::Read));
        let changes = parents.map(|path| (path, AccessNeed::Change));
        self.unlocked.unlock_paths(reads.chain(changes))
    }

    fn root_dir(&self) -> &Dir {
        self.unlocked.dir()
    }

    fn stage_all(&self, moving: &[&'a UndoStep]) -> Result<Vec<StagedEntry<'a>>, FileError> {
        let mut staged = Vec::new();
        let files = moving
            .iter()
            .filter(|step| matches!(step.target_node(self.direction), Node::File { .. }));
        let many = files.count() > SYNC_SINGLY_MAX && dir::CAN_SYNC_FILE_SYSTEM;
        for step in moving {
            let one = self.stage_step(step, staged.len(), !many);
            staged.extend(one.map_err(|error| step_error(step, &error))?);
        }
        if many {
            self.root_dir().sync_file_system().at("the workspace")?;
        }
        Ok(staged)
    }

    fn stage_step(
        &self,
        step: &'a UndoStep,
        number: usize,
        sync: bool,
    ) -> io::Result<Option<StagedEntry<'a>>> {
        let (mtime_ns, link) = match step.target_node(self.direction) {
            Node::Absent | Node::Folder { .. } => return Ok(None),
            Node::File { mtime_ns, .. } => (*mtime_ns, None),
            Node::Link { target, mtime_ns } => (*mtime_ns, Some(target)),
        };
        let folder = self.nearest_folder(&step.path.0)?;
        let temp = self.tag.temp_name(number);
        folder.remove_tree(&temp)?;
        if let Some(target) = link {
            folder.create_link(&temp, target)?;
            folder.set_mtime_of(&temp, mtime_ns)?;
        } else if let Node::File { blob, mode, .. } = step.target_node(self.direction) {
            let mut file = folder.create(&temp, Some(*mode))?;
            match self.source {
                ContentSource::Store(store) => store.copy_to(blob, &mut file)?,
                ContentSource::Layer(layer) => {
                    copy_to_new(&mut layer.open_file(&step.path.0)?, blob, &mut file)?;
                }
            }
            step.target_attributes(self.direction)
                .apply_to(&file, *mode);
            folder.set_mtime_of(&temp, mtime_ns)?;
            if sync {
                file.sync_all()?;
            }
        }
        crash_point()?;
        Ok(Some(StagedEntry { folder, temp, step }))
    }

    /// Opens the nearest existing folder above a path: it is not one of those that are removed.
    fn nearest_folder(&self, path: &Path) -> io::Result<Dir> {
        for above in path.ancestors().skip(1) {
            match self.root_dir().open_folder(above) {
                // A link goes, where something is to come below it.
                Err(error) if is_not_found(&error) || is_link_refused(&error) => {}
                other => return other,
            }
        }
        Ok(self.root_dir().clone())
    }

    /// Removes the old entry of a path that is to be absent or of another kind.
    fn remove_old_node(&self, step: &UndoStep) -> io::Result<()> {
        let Some((parent, name)) = dir::split_parent(&step.path.0) else {
            return Ok(());
        };
        let folder = match self.root_dir().open_folder(parent) {
            // Below a link that goes stands nothing of ours.
            Err(error) if is_not_found(&error) || is_link_refused(&error) => return Ok(()),
            other => other?,
        };
        let Some(stat) = folder.stat(name)? else {
            return Ok(());
        };
        let goes = match step.target_node(self.direction) {
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
            self.unlocked.accept_current_mode(&step.path.0);
        }
        crash_point()
    }

    fn create_folder(&self, step: &UndoStep) -> io::Result<()> {
        let Some((parent, name)) = dir::split_parent(&step.path.0) else {
            return Ok(());
        };
        let folder = self.root_dir().open_folder(parent)?;
        if folder.stat(name)?.is_none() {
            folder.create_folder(name, 0o700)?;
        }
        crash_point()
    }

    fn place_staged(&self, staged: &StagedEntry<'_>) -> io::Result<()> {
        let Some((parent, name)) = dir::split_parent(&staged.step.path.0) else {
            return Ok(());
        };
        let folder = self.root_dir().open_folder(parent)?;
        staged.folder.rename_to(&staged.temp, &folder, name)?;
        self.unlocked.accept_current_mode(&staged.step.path.0);
        crash_point()
    }

    /// Returns the folders that get a mode and a time, by their paths.
    fn folders_to_finalize(&self, states: &[PathState]) -> BTreeMap<&'a Path, &'a UndoStep> {
        let steps = self.steps.iter().zip(states);
        let closing = steps.filter(|(step, stand)| {
            let is_moving = match stand {
                PathState::AtOrigin => true,
                PathState::AtTarget => self.is_resumed,
                PathState::Diverged => false,
            };
            is_moving && matches!(step.target_node(self.direction), Node::Folder { .. })
        });
        closing
            .map(|(step, _)| (step.path.0.as_path(), step))
            .collect()
    }

    /// Sets modes and times of folders last and from the inside out: every earlier step changed them, and entries below
    /// a folder may be out of reach afterwards. Folders that were only unlocked are locked on the same way.
    fn finalize_folders(
        &self,
        closing: &BTreeMap<&'a Path, &'a UndoStep>,
        sync: bool,
    ) -> Result<(), FileError> {
        let unlocked = self.unlocked.paths();
        let mut all: BTreeSet<&Path> = closing.keys().copied().collect();
        all.extend(unlocked.iter().map(PathBuf::as_path));
        for path in all.into_iter().rev() {
            let closed = match closing.get(path) {
                Some(step) => self.finalize_folder(step, sync),
                None => self.unlocked.relock_path(path, sync),
            };
            closed.at(path)?;
        }
        crash_point().at("the workspace")
    }

    fn finalize_folder(&self, step: &UndoStep, sync: bool) -> io::Result<()> {
        let Node::Folder { mode, mtime_ns } = step.target_node(self.direction) else {
            return Ok(());
        };
        let folder = self.root_dir().open_folder(&step.path.0)?;
        let traits = step.target_attributes(self.direction);
        if !traits.is_default() {
            traits.apply_to(&self.root_dir().open_file(&step.path.0)?, *mode);
        }
        folder.set_mtime(*mtime_ns)?;
        folder.set_mode(*mode)?;
        self.unlocked.accept_current_mode(&step.path.0);
        if sync { folder.sync() } else { Ok(()) }
    }

    fn set_folder_times(&self, folders: &[(PathBuf, i64)]) -> Result<(), FileError> {
        let named = |path: &Path, error: io::Error| FileError::from_io(display_path(path), &error);
        for (path, mtime_ns) in folders {
            let folder = self.root_dir().open_folder(path);
            match folder.and_then(|folder| folder.set_mtime(*mtime_ns)) {
                // Somebody took it away meanwhile.
                Err(error) if is_not_found(&error) => {}
                other => other.map_err(|error| named(path, error))?,
            }
        }
        crash_point().map_err(|error| named(Path::new(""), error))
    }

    /// Syncs the names in these folders to disk; folders that are finalized later are synced then.
    fn sync_folders(
        &self,
        moving: &[&UndoStep],
        closing: &BTreeMap<&Path, &UndoStep>,
        folders: &[(PathBuf, i64)],
    ) -> Result<(), FileError> {
        let parents = moving.iter().filter_map(|step| step.path.0.parent());
        let touched = folders.iter().map(|(path, _)| path.as_path());
        let mut all: BTreeSet<&Path> = parents.chain(touched).collect();
        all.retain(|path| !closing.contains_key(path));
        for path in all {
            match self
                .root_dir()
                .open_folder(path)
                .and_then(|folder| folder.sync())
            {
                Err(error) if is_not_found(&error) || is_link_refused(&error) => {}
                other => other.at("the workspace")?,
            }
        }
        Ok(())
    }
}

fn step_error(step: &UndoStep, error: &io::Error) -> FileError {
    FileError::from_io(display_path(&step.path.0), error)
}
