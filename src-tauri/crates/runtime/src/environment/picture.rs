//! Pictures: everything of a workspace as it was before a command ran in it for real, kept outside until what happened is
//! recorded.
//!
//! A picture is whole when it says what was begun over it; one that does not say so was never run over. Whoever took it
//! holds its lock, so what nobody holds was left by a crash.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::RanInPlace;
use super::copy::{Copied, Copier, Marked, copy};
use super::folder::{found, make, remove, taken_over};
use super::refusals::Refusals;
use crate::dir::Dir;
use crate::history::Way;
use crate::limits::DISK_RESERVE_BYTES;
use crate::steps::between;
use crate::{EntryMeta, FileError, History, Ran, Workspace, private_folder, write_atomic};

/// The file that says what was begun.
const BEGUN: &str = "begun.json";
const TREE: &str = "tree";

/// Everything of a workspace as it was before a command, and what becomes of that command.
#[derive(Debug)]
pub struct Picture {
    pub(super) folder: Folder,
    pub(super) history: History,
    pub(super) workspace: Workspace,
    pub(super) meta: EntryMeta,
    pub(super) copied: Copied,
    /// How the command ended, and what it was refused; none as long as it did not.
    pub(super) ran: OnceLock<(Ran, Refusals)>,
}

/// What was begun over a picture.
#[derive(Serialize, Deserialize)]
struct Begun {
    meta: EntryMeta,
    /// The workspace.
    root: Way,
}

/// The folder of a picture. It stays when this is dropped, since what happened may not be recorded yet.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    _alive: File,
}

impl Picture {
    /// Takes a picture, and has it on disk when it returns.
    ///
    /// # Errors
    /// [`FileError::NoRoom`] when the workspace is too large for one or holds what cannot be copied, [`FileError::DiskFull`],
    /// or what the system said: nothing is left then.
    pub(crate) fn take(
        history: &History,
        workspace: &Workspace,
        meta: EntryMeta,
        copier: Copier,
    ) -> Result<Self, FileError> {
        let failed = |error: io::Error| FileError::from_io("the history", &error);
        let folder = history.alone(|| Folder::make(&history.pictures()))?;
        let folder = folder.map_err(failed)?;
        match fill(&folder, history, workspace, (&meta, copier)) {
            Ok(copied) => Ok(Self {
                folder,
                history: history.clone(),
                workspace: workspace.clone(),
                meta,
                copied,
                ran: OnceLock::new(),
            }),
            Err(error) => {
                folder.remove();
                Err(error)
            }
        }
    }

    /// Pictures that a crash left, of workspaces that are still there. Those over which nothing was begun are removed.
    pub(super) fn left(history: &History) -> Result<Vec<Self>, FileError> {
        let failed = |error: io::Error| FileError::from_io("the history", &error);
        let folders = history.alone(|| Folder::left(&history.pictures()))?;
        let mut left = Vec::new();
        for folder in folders.map_err(failed)? {
            let Ok(begun) = fs::read(folder.path.join(BEGUN)) else {
                folder.remove();
                continue;
            };
            let begun: Begun = match serde_json::from_slice(&begun) {
                Ok(begun) => begun,
                Err(error) => {
                    tracing::warn!(folder = %folder.path.display(), %error, "left alone");
                    continue;
                }
            };
            let Way(root) = begun.root;
            match Workspace::open(&root) {
                Ok(workspace) => left.push(Self {
                    folder,
                    history: history.clone(),
                    workspace,
                    meta: begun.meta,
                    copied: Copied::default(),
                    ran: OnceLock::new(),
                }),
                Err(fault) => {
                    tracing::warn!(root = %root.display(), %fault, "the workspace is gone");
                }
            }
        }
        Ok(left)
    }

    /// Takes down how the command ended, and gives it. A picture is run over once.
    pub(super) fn was_run_over(&self, ran: Ran, refused: Refusals) -> RanInPlace {
        let told = RanInPlace {
            ran: ran.clone(),
            refused: refused.list.clone(),
            reached: refused.reached.clone(),
        };
        let _ = self.ran.set((ran, refused));
        told
    }

    /// How much the workspace took on the disk, in bytes.
    pub(super) fn disk_bytes(&self) -> u64 {
        self.copied.disk_bytes
    }
}

/// Copies everything, and only then says that something begins.
fn fill(
    folder: &Folder,
    history: &History,
    workspace: &Workspace,
    (meta, copier): (&EntryMeta, Copier),
) -> Result<Copied, FileError> {
    let failed = |error: io::Error| FileError::from_io("the history", &error);
    let tree = folder.tree();
    make(&tree, 0o700).map_err(failed)?;
    between().map_err(failed)?;
    let copied = copy(workspace.dir(), &tree, Marked::Original, copier)?;
    let bytes_max = history.bytes_max();
    if copied.disk_bytes > bytes_max {
        let max = bytes_max >> 20;
        return Err(FileError::NoRoom {
            reason: format!(
                "The workspace cannot be copied for a command: it takes more than the {max} MiB that can be undone at once."
            ),
        });
    }
    let above = Dir::open(&folder.path).map_err(failed)?;
    let root = workspace.dir().stat_self().map_err(failed)?;
    above
        .set_mode_of(OsStr::new(TREE), root.mode)
        .map_err(failed)?;
    above
        .set_mtime_of(OsStr::new(TREE), root.mtime_ns)
        .map_err(failed)?;
    if above.free_bytes().map_err(failed)? < DISK_RESERVE_BYTES {
        let path = "the history".to_owned();
        return Err(FileError::DiskFull { path });
    }
    above.sync_everything().map_err(failed)?;
    between().map_err(failed)?;
    let begun = Begun {
        meta: meta.clone(),
        root: Way(workspace.root().to_owned()),
    };
    let begun =
        serde_json::to_vec(&begun).map_err(|error| FileError::other("the history", error))?;
    write_atomic(&folder.path.join(BEGUN), &begun, 0o600)?;
    Ok(copied)
}

impl Folder {
    fn make(parent: &Path) -> io::Result<Self> {
        private_folder(parent).map_err(io::Error::other)?;
        let path = parent.join(uuid::Uuid::now_v7().simple().to_string());
        Ok(Self {
            _alive: found(&path)?,
            path,
        })
    }

    /// Those that nobody holds; they are ours from now on.
    fn left(parent: &Path) -> io::Result<Vec<Self>> {
        let entries = match fs::read_dir(parent) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut left = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if let Some(alive) = taken_over(&path)? {
                left.push(Self {
                    path,
                    _alive: alive,
                });
            }
        }
        Ok(left)
    }

    /// The copy of the workspace.
    pub(super) fn tree(&self) -> PathBuf {
        self.path.join(TREE)
    }

    /// Removes the picture: first what says that something was begun.
    pub(super) fn remove(&self) {
        let removed = match fs::remove_file(self.path.join(BEGUN)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => between().and_then(|()| remove(&self.path)),
        };
        if let Err(error) = removed {
            tracing::warn!(folder = %self.path.display(), %error, "a picture is left over");
        }
    }
}
