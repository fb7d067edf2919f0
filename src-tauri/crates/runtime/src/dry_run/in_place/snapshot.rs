//! Snapshots: complete copies of a workspace from before a command ran in it for real, kept outside the workspace until
//! the changes are recorded.
//!
//! A snapshot is complete when it says which run was begun over it; a command never ran over one that does not say so.
//! The process that took a snapshot holds its lock, so a snapshot whose lock is free was left by a crash.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::dry_run::change_limits::{GrowthLimit, layer_bytes_max};
use crate::dry_run::overlay::owned_folder::{
    create_folder, create_owned, remove_folder, try_take_over,
};
use crate::dry_run::overlay::workspace_copy::{
    CopyMethod, MarkedSide, WorkspaceCopy, copy_workspace,
};
use crate::dry_run::refusals::Refusals;
use crate::dry_run::{InPlaceRun, LayerKind};
use crate::fs::at_path::AtPath as _;
use crate::fs::atomic::ignore_not_found;
use crate::fs::dir::Dir;
use crate::fs::fault_injection::crash_point;
use crate::limits::DISK_RESERVE_BYTES;
use crate::undo::RelPath;
use crate::{
    CommandRun, FileError, History, UndoEntryMeta, Workspace, create_private_folder, write_atomic,
};

/// The file that names the run that was begun.
const BEGUN_FILE_NAME: &str = "begun.json";
const TREE_FOLDER_NAME: &str = "tree";

/// A complete copy of a workspace from before a command, and the outcome of that command.
#[derive(Debug)]
pub struct Snapshot {
    pub(in crate::dry_run) folder: SnapshotFolder,
    pub(in crate::dry_run) history: History,
    pub(in crate::dry_run) workspace: Workspace,
    pub(in crate::dry_run) meta: UndoEntryMeta,
    pub(in crate::dry_run) copied: WorkspaceCopy,
    /// How the command ended, and the accesses that it was refused; unset until it has ended.
    pub(in crate::dry_run) outcome: OnceLock<(CommandRun, Refusals)>,
}

/// The run that was begun over a snapshot.
#[derive(Serialize, Deserialize)]
struct BegunRun {
    meta: UndoEntryMeta,
    /// Root of the workspace.
    root: RelPath,
}

/// The folder of a snapshot. It stays when this is dropped, since the changes may not be recorded yet.
#[derive(Debug)]
pub(in crate::dry_run) struct SnapshotFolder {
    path: PathBuf,
    _alive: File,
}

impl Snapshot {
    /// Takes a snapshot, and has it on disk when it returns.
    ///
    /// # Errors
    /// [`FileError::SandboxUnavailable`] when the workspace is too large for a snapshot or holds entries that cannot be
    /// copied, [`FileError::DiskFull`], or any error reported by the system: nothing is left behind then.
    pub(crate) fn take(
        history: &History,
        workspace: &Workspace,
        meta: UndoEntryMeta,
        copier: CopyMethod,
    ) -> Result<Self, FileError> {
        let folder =
            history.with_exclusive_lock(|| SnapshotFolder::create(&history.snapshots_folder()))?;
        let folder = folder.at("the history")?;
        match copy_and_mark(&folder, history, workspace, &meta, copier) {
            Ok(copied) => Ok(Self {
                folder,
                history: history.clone(),
                workspace: workspace.clone(),
                meta,
                copied,
                outcome: OnceLock::new(),
            }),
            Err(error) => {
                folder.remove();
                Err(error)
            }
        }
    }

    /// Lists the snapshots that a crash left, of workspaces that still exist. Those over which nothing was begun are
    /// removed.
    pub(in crate::dry_run) fn list_left_behind(history: &History) -> Result<Vec<Self>, FileError> {
        let folders = history.with_exclusive_lock(|| {
            SnapshotFolder::list_left_behind(&history.snapshots_folder())
        })?;
        let mut left = Vec::new();
        for folder in folders.at("the history")? {
            let Ok(begun) = fs::read(folder.path.join(BEGUN_FILE_NAME)) else {
                folder.remove();
                continue;
            };
            let begun: BegunRun = match serde_json::from_slice(&begun) {
                Ok(begun) => begun,
                Err(error) => {
                    tracing::warn!(folder = %folder.path.display(), %error, "left alone");
                    continue;
                }
            };
            let RelPath(root) = begun.root;
            match Workspace::open(&root) {
                Ok(workspace) => left.push(Self {
                    folder,
                    history: history.clone(),
                    workspace,
                    meta: begun.meta,
                    copied: WorkspaceCopy::default(),
                    outcome: OnceLock::new(),
                }),
                Err(fault) => {
                    tracing::warn!(root = %root.display(), %fault, "the workspace is gone");
                }
            }
        }
        Ok(left)
    }

    /// Records how the command ended, and returns its result. At most one command runs over a snapshot.
    pub(in crate::dry_run) fn record_run(&self, ran: CommandRun, refused: Refusals) -> InPlaceRun {
        let run = InPlaceRun {
            command: ran.clone(),
            refused: refused.list.clone(),
            reached: refused.reached.clone(),
        };
        let _ = self.outcome.set((ran, refused));
        run
    }

    /// Returns how far a command may let the workspace grow: no further than can be undone.
    pub(in crate::dry_run) fn growth_limit(&self) -> GrowthLimit {
        GrowthLimit {
            initial_bytes: self.copied.disk_bytes,
            growth_bytes_max: layer_bytes_max(LayerKind::Disk).min(self.history.entry_bytes_max()),
        }
    }
}

/// Copies everything, and only then marks the run as begun.
fn copy_and_mark(
    folder: &SnapshotFolder,
    history: &History,
    workspace: &Workspace,
    meta: &UndoEntryMeta,
    copier: CopyMethod,
) -> Result<WorkspaceCopy, FileError> {
    let tree = folder.tree_path();
    create_folder(&tree, 0o700).at("the history")?;
    crash_point().at("the history")?;
    let copied = copy_workspace(workspace.dir(), &tree, MarkedSide::Original, copier)?;
    let bytes_max = history.entry_bytes_max();
    if copied.disk_bytes > bytes_max {
        let max = bytes_max >> 20;
        return Err(FileError::sandbox_unavailable(format!(
            "The workspace cannot be copied for a command: it takes more than the {max} MiB that can be undone at once."
        )));
    }
    let above = Dir::open(&folder.path).at("the history")?;
    let root = workspace.dir().stat_self().at("the history")?;
    above
        .set_mode_of(OsStr::new(TREE_FOLDER_NAME), root.mode)
        .at("the history")?;
    above
        .set_mtime_of(OsStr::new(TREE_FOLDER_NAME), root.mtime_ns)
        .at("the history")?;
    if above.free_bytes().at("the history")? < DISK_RESERVE_BYTES {
        let path = "the history".to_owned();
        return Err(FileError::DiskFull { path });
    }
    above.sync_file_system().at("the history")?;
    crash_point().at("the history")?;
    let begun = BegunRun {
        meta: meta.clone(),
        root: RelPath(workspace.root().to_owned()),
    };
    let begun = serde_json::to_vec(&begun)
        .map_err(|error| FileError::from_display("the history", error))?;
    write_atomic(&folder.path.join(BEGUN_FILE_NAME), &begun, 0o600)?;
    Ok(copied)
}

impl SnapshotFolder {
    fn create(parent: &Path) -> io::Result<Self> {
        create_private_folder(parent).map_err(io::Error::other)?;
        let path = parent.join(uuid::Uuid::now_v7().simple().to_string());
        Ok(Self {
            _alive: create_owned(&path)?,
            path,
        })
    }

    /// Lists the snapshot folders whose lock is free, and takes them over.
    fn list_left_behind(parent: &Path) -> io::Result<Vec<Self>> {
        let entries = match fs::read_dir(parent) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut left = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if let Some(alive) = try_take_over(&path)? {
                left.push(Self {
                    path,
                    _alive: alive,
                });
            }
        }
        Ok(left)
    }

    /// Returns the path of the workspace copy.
    pub(in crate::dry_run) fn tree_path(&self) -> PathBuf {
        self.path.join(TREE_FOLDER_NAME)
    }

    /// Removes the snapshot, beginning with the file that marks the run as begun.
    pub(in crate::dry_run) fn remove(&self) {
        let removed = ignore_not_found(fs::remove_file(self.path.join(BEGUN_FILE_NAME)))
            .and_then(|()| crash_point())
            .and_then(|()| remove_folder(&self.path));
        if let Err(error) = removed {
            tracing::warn!(folder = %self.path.display(), %error, "a snapshot is left over");
        }
    }
}
