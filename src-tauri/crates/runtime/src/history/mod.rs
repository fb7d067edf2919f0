//! Copies taken before an effect, kept outside the workspace, so that one call can be taken back to the byte.

use std::path::Path;

use protocol::history::UndoCheck;
use protocol::preview::UndoOutlook;
use protocol::{At, CallId, Fault, Plan, SessionId, UndoEntry, UndoId};

use crate::{FileError, Workspace};

/// The history of one data folder.
#[derive(Debug, Clone)]
pub struct History {}

/// What the history entry of a call is called and belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryMeta {
    /// Its name.
    pub id: UndoId,
    /// The session of the call.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// Now.
    pub at: At,
    /// What is done: "Deleted tests/old".
    pub title: String,
}

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Back to before the call.
    Undo,
    /// Forward to after it again.
    Redo,
}

/// Why nothing was restored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// These paths are no longer as the call left them; nothing was touched.
    #[error("{} changed since; nothing was touched. Keep what is there, or put it back first.", .0.join(", "))]
    Conflict(Vec<String>),
    /// Something else.
    #[error(transparent)]
    Failed(Fault),
}

impl History {
    /// Opens or creates the store. One entry may hold at most `bytes_max` bytes.
    ///
    /// # Errors
    /// When the folder cannot be created or written.
    pub fn open(folder: &Path, bytes_max: u64) -> Result<Self, Fault> {
        let _ = (folder, bytes_max);
        Ok(Self {})
    }

    /// Whether the effects of `plan` could be secured: no special file, within the limit, enough free disk.
    pub fn outlook(&self, workspace: &Workspace, plan: &Plan) -> UndoOutlook {
        let _ = (workspace, plan);
        UndoOutlook::Unsecured {
            reason: "not built yet".to_owned(),
        }
    }

    /// Takes the copies, and has them and the entry on disk when it returns.
    ///
    /// # Errors
    /// [`FileError::Changed`] when the plan no longer fits what stands there; else what the system said. No entry is left.
    pub fn prepare(
        &self,
        workspace: &Workspace,
        plan: &Plan,
        meta: EntryMeta,
    ) -> Result<UndoEntry, FileError> {
        let _ = (workspace, plan);
        Err(FileError::other(meta.title, "not built yet"))
    }

    /// Records that the effect stands, as it stands now.
    ///
    /// # Errors
    /// What the system said.
    pub fn seal(&self, id: &UndoId) -> Result<(), FileError> {
        Err(FileError::other(id.as_str(), "not built yet"))
    }

    /// After a failed or interrupted effect: takes back what of it stands and says where the entry is now.
    ///
    /// # Errors
    /// When it cannot be taken back; the entry stays as it was and can be settled later.
    pub fn settle(&self, id: &UndoId) -> Result<UndoEntry, Fault> {
        Err(not_yet(id))
    }

    /// An entry as it stands; none if there is no such entry.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn entry(&self, id: &UndoId) -> Result<Option<UndoEntry>, Fault> {
        Err(not_yet(id))
    }

    /// What a restore would meet.
    ///
    /// # Errors
    /// When the entry or the workspace is gone.
    pub fn check(&self, id: &UndoId, direction: Direction) -> Result<UndoCheck, Fault> {
        let _ = direction;
        Err(not_yet(id))
    }

    /// Takes an effect back, or brings it again; returns the number of paths.
    ///
    /// # Errors
    /// [`RestoreError::Conflict`] touches nothing.
    pub fn restore(&self, id: &UndoId, direction: Direction) -> Result<u64, RestoreError> {
        let _ = direction;
        Err(RestoreError::Failed(not_yet(id)))
    }

    /// Finishes what a crash interrupted and sweeps temporary files; returns the entries concerned.
    ///
    /// # Errors
    /// When something could not be finished.
    pub fn recover(&self) -> Result<Vec<UndoId>, Fault> {
        Ok(Vec::new())
    }

    /// Drops the entries that are not kept, and every copy that no entry needs; returns the bytes freed.
    ///
    /// # Errors
    /// What the system said.
    pub fn collect(&self, keep: &dyn Fn(&UndoId) -> bool) -> Result<u64, Fault> {
        let _ = keep;
        Ok(0)
    }
}

fn not_yet(id: &UndoId) -> Fault {
    Fault::new(
        format!("The history entry `{id}` cannot be used: not built yet."),
        "",
    )
}
