//! Writes and removes files: new content is staged and synced beside its target first, then renamed into it; all files
//! or none.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use protocol::Plan;
use protocol::call::plan::FileChange;

use crate::fs::at_path::AtPath as _;
use crate::fs::dir;
use crate::fs::dir::{Dir, FileStat};
use crate::fs::fault_injection::crash_point;
use crate::fs::temp::TempTag;
use crate::fs::workspace::{PathKind, PathUse};
use crate::limits::SYNC_SINGLY_MAX;
use crate::{FileError, Workspace};

pub(super) fn write_changes(
    workspace: &Workspace,
    plan: &Plan,
    changes: &[FileChange],
) -> Result<(), FileError> {
    let mut places = Vec::new();
    let mut seen = BTreeSet::new();
    for change in changes {
        let place = inspect_target(workspace, change)?;
        if !seen.insert(place.rel.clone()) {
            let why = "two changes of one plan lead to it";
            return Err(FileError::from_display(change.path.as_str(), why));
        }
        places.push(place);
    }
    let mut work = WriteBatch {
        tag: TempTag::from_plan(plan),
        several: changes.len() > 1,
        many: changes.len() > SYNC_SINGLY_MAX,
        folders: Vec::new(),
        staged: Vec::new(),
    };
    let written = work
        .stage_change(workspace.dir(), changes, &places)
        .and_then(|()| work.commit_changes(changes));
    match written {
        Ok(()) => work.finish(workspace.dir(), changes),
        Err(error) => {
            work.roll_back();
            Err(error)
        }
    }
}

/// The resolved target of a change, and the file that stood there when it was compared with the plan.
struct WriteTarget {
    rel: PathBuf,
    stat: Option<FileStat>,
}

fn inspect_target(workspace: &Workspace, change: &FileChange) -> Result<WriteTarget, FileError> {
    let path = change.path.as_str();
    let failed = |error: io::Error| FileError::from_io(path, &error);
    let changed = || FileError::Changed { path: path.into() };
    let path_use = match change.after {
        Some(_) => PathUse::Write,
        None => PathUse::Delete,
    };
    let rel = workspace.resolve_writable(path, path_use)?;
    let Some((parent, name)) = dir::split_parent(&rel) else {
        return Err(FileError::IsFolder { path: path.into() });
    };
    let stat = match workspace.dir().open_folder(parent) {
        Ok(folder) => {
            let stat = folder.stat(name).map_err(failed)?;
            let is_file = stat.is_some_and(|stat| stat.kind == PathKind::File);
            let may = match path_use {
                PathUse::Delete if !is_file => return Err(changed()),
                PathUse::Delete => folder.can_change_names(),
                PathUse::Write | PathUse::Read | PathUse::List => {
                    !is_file || folder.can_write(name)
                }
            };
            if !may {
                return Err(FileError::NoPermission { path: path.into() });
            }
            stat
        }
        // The parent is missing: it will be made. A file above it is found out when that is tried.
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    let known_max = change.before.as_ref().map_or(0, Vec::len) as u64;
    let now = match workspace.read_whole(path, known_max) {
        Err(FileError::TooLarge { .. }) => return Err(changed()),
        other => other?,
    };
    if now != change.before || now.is_some() != stat.is_some() {
        return Err(changed());
    }
    Ok(WriteTarget { rel, stat })
}

/// One file that is being written or removed.
struct StagedWrite {
    folder: Dir,
    name: OsString,
    /// The temporary file with the new content; `None` for a file that is removed.
    temp: Option<OsString>,
    /// Another name of the previous file, while it may be needed again.
    backup_name: Option<OsString>,
    before: Option<FileStat>,
    placed: bool,
}

struct WriteBatch {
    tag: TempTag,
    several: bool,
    /// Whether there are so many files that one sync of the file system is quicker than one for each.
    many: bool,
    /// Folders created for this plan, outermost first.
    folders: Vec<(Dir, OsString)>,
    staged: Vec<StagedWrite>,
}

impl WriteBatch {
    fn stage_change(
        &mut self,
        root: &Dir,
        changes: &[FileChange],
        targets: &[WriteTarget],
    ) -> Result<(), FileError> {
        for (number, (change, target)) in changes.iter().zip(targets).enumerate() {
            let Some((parent, name)) = dir::split_parent(&target.rel) else {
                continue;
            };
            let folder = self.open_or_create_folder(root, parent).at(&change.path)?;
            let Some(after) = &change.after else {
                self.staged.push(StagedWrite {
                    folder,
                    name: name.to_owned(),
                    temp: None,
                    backup_name: None,
                    before: target.stat,
                    placed: false,
                });
                continue;
            };
            let temp = self.tag.temp_name(number * 2);
            // A leftover of the same work, cut short earlier, holds the same content at best.
            folder.remove_tree(&temp).at(&change.path)?;
            let old = match &change.from {
                Some(from) => move_source(from, changes, targets),
                None => target.stat.map(|stat| (target.rel.as_path(), stat)),
            };
            let mode = old.map(|(_, stat)| stat.mode);
            let mut file = folder.create(&temp, mode).at(&change.path)?;
            self.staged.push(StagedWrite {
                folder: folder.clone(),
                name: name.to_owned(),
                temp: Some(temp),
                backup_name: None,
                before: target.stat,
                placed: false,
            });
            file.write_all(after).at(&change.path)?;
            if let Some((at, stat)) = old {
                root.attributes_at(at).apply_to(&file, stat.mode);
            }
            if !self.many {
                file.sync_all().at(&change.path)?;
            }
            crash_point().at(&change.path)?;
        }
        if self.many && !sync_file_system(root)? {
            for (staged, change) in self.staged.iter().zip(changes) {
                let Some(temp) = &staged.temp else {
                    continue;
                };
                let file = staged.folder.open_file(Path::new(temp));
                file.and_then(|file| file.sync_all()).at(&change.path)?;
            }
        }
        Ok(())
    }

    /// Opens a folder below the root, creating missing ones.
    fn open_or_create_folder(&mut self, root: &Dir, rel: &Path) -> io::Result<Dir> {
        let mut here = root.clone();
        for name in rel.iter() {
            here = match here.open_folder(Path::new(name)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    here.create_folder(name, 0o777)?;
                    self.folders.push((here.clone(), name.to_owned()));
                    crash_point()?;
                    here.open_folder(Path::new(name))?
                }
                other => other?,
            };
        }
        Ok(here)
    }

    fn commit_changes(&mut self, changes: &[FileChange]) -> Result<(), FileError> {
        for (number, (staged, change)) in self.staged.iter_mut().zip(changes).enumerate() {
            let path = change.path.as_str();
            if staged.folder.stat(&staged.name).at(path)? != staged.before {
                return Err(FileError::Changed { path: path.into() });
            }
            let backup = self.tag.temp_name(number * 2 + 1);
            match &staged.temp {
                Some(temp) => {
                    if self.several && staged.before.is_some() {
                        back_up_target(&staged.folder, &staged.name, &backup, change).at(path)?;
                        staged.backup_name = Some(backup);
                    }
                    staged.folder.rename(temp, &staged.name).at(path)?;
                    staged.placed = true;
                }
                None => {
                    staged.folder.remove_tree(&backup).at(path)?;
                    staged.folder.rename(&staged.name, &backup).at(path)?;
                    staged.backup_name = Some(backup);
                }
            }
            crash_point().at(path)?;
        }
        Ok(())
    }

    fn finish(self, root: &Dir, changes: &[FileChange]) -> Result<(), FileError> {
        let mut synced = BTreeSet::new();
        for (staged, change) in self.staged.iter().zip(changes) {
            if let Some(kept) = &staged.backup_name {
                staged.folder.remove_file(kept).at(&change.path)?;
            }
            if !self.many && synced.insert(Path::new(&change.path).parent()) {
                staged.folder.sync().at(&change.path)?;
            }
        }
        if self.many && sync_file_system(root)? {
            return Ok(());
        }
        for (staged, change) in self.staged.iter().zip(changes) {
            if self.many && synced.insert(Path::new(&change.path).parent()) {
                staged.folder.sync().at(&change.path)?;
            }
        }
        for (parent, name) in &self.folders {
            let failed = |error: io::Error| FileError::from_io(name.to_string_lossy(), &error);
            parent.sync().map_err(failed)?;
        }
        Ok(())
    }

    /// Puts everything back. Failures are left to the history, which knows the previous content.
    fn roll_back(self) {
        for staged in self.staged.iter().rev() {
            let undone = match (&staged.backup_name, staged.placed) {
                (Some(kept), _) => staged.folder.rename(kept, &staged.name),
                (None, true) if staged.before.is_none() => staged.folder.remove_file(&staged.name),
                (None, _) => Ok(()),
            };
            let cleaned = match &staged.temp {
                Some(temp) => staged.folder.remove_tree(temp),
                None => Ok(()),
            };
            if let Err(error) = undone.and(cleaned) {
                tracing::warn!(name = ?staged.name, %error, "a file could not be put back");
            }
        }
        for (parent, name) in self.folders.iter().rev() {
            if let Err(error) = parent.remove_folder(name) {
                tracing::warn!(?name, %error, "a new folder could not be removed");
            }
        }
    }
}

/// Returns the path and the file details of the source of a move.
fn move_source<'a>(
    from: &str,
    changes: &[FileChange],
    targets: &'a [WriteTarget],
) -> Option<(&'a Path, FileStat)> {
    let place = changes.iter().position(|other| other.path == from)?;
    let target = targets.get(place)?;
    target.stat.map(|stat| (target.rel.as_path(), stat))
}

fn sync_file_system(root: &Dir) -> Result<bool, FileError> {
    root.sync_file_system().at("the workspace")
}

/// Keeps the entry at a name under a second name: a hard link where the file system has them, otherwise a copy.
fn back_up_target(
    folder: &Dir,
    name: &OsString,
    backup: &OsString,
    change: &FileChange,
) -> io::Result<()> {
    folder.remove_tree(backup)?;
    if folder.hard_link(name, backup).is_ok() {
        return Ok(());
    }
    let stat = folder.stat(name)?;
    let mut copy = folder.create(backup, stat.map(|stat| stat.mode))?;
    copy.write_all(change.before.as_deref().unwrap_or_default())?;
    copy.sync_all()?;
    if let Some(stat) = stat {
        folder.set_mtime_of(backup, stat.mtime_ns)?;
    }
    Ok(())
}
