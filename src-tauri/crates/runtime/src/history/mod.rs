//! Copies taken before an effect, kept outside the workspace, so that one call can be taken back to the byte.
//!
//! An entry knows every path before and after. It is on disk before the effect begins; a restore writes down which way
//! it goes before it touches anything. So at any moment a crash can strike, and afterwards every path is on one of two
//! known sides.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use protocol::history::{Node, UndoCheck};
use protocol::preview::UndoOutlook;
use protocol::{At, CallId, Fault, Plan, SessionId, UndoEntry, UndoId, UndoState};
use serde::{Deserialize, Serialize};

use crate::limits::{DISK_RESERVE_BYTES, SHOWN_PATHS_MAX};
use crate::temp::Tag;
use crate::{FileError, Workspace, private_folder};

mod capture;
mod captured;
mod carry;
mod manifest;
mod node;
mod recover;
mod restore;
mod store;

use manifest::{Entries, Manifest, Way};
use store::Store;

pub(crate) use captured::carry_out;

/// The history of one data folder. Cheap to clone; one piece of work at a time.
#[derive(Debug, Clone)]
pub struct History(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    entries: Entries,
    store: Store,
    bytes_max: u64,
    turn: Mutex<()>,
}

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Back to before the call.
    Undo,
    /// Forward to after it again.
    Redo,
}

impl Direction {
    fn opposite(self) -> Self {
        match self {
            Self::Undo => Self::Redo,
            Self::Redo => Self::Undo,
        }
    }

    /// Where an entry stands after going this way.
    fn state(self) -> UndoState {
        match self {
            Self::Undo => UndoState::Undone,
            Self::Redo => UndoState::Applied,
        }
    }
}

/// Why nothing was restored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// These paths are no longer as the call left them; nothing was touched.
    #[error("Changed since, so nothing was touched: {}. Keep what is there, or put it back first.", .0.join(", "))]
    Conflict(Vec<String>),
    /// Something else.
    #[error(transparent)]
    Failed(Fault),
}

impl History {
    /// Opens or creates the store in `folder`, for the owner alone. One entry may hold at most `bytes_max` bytes.
    ///
    /// # Errors
    /// When the folder cannot be created or written.
    pub fn open(folder: &Path, bytes_max: u64) -> Result<Self, Fault> {
        let fault = |error: &dyn std::error::Error| {
            let message = format!("The undo history `{}` cannot be opened.", folder.display());
            Fault::new(message, "Check the permissions of the data folder.").caused_by(error)
        };
        let entries = Entries(folder.join("entries"));
        private_folder(&entries.0).map_err(|error| fault(&error))?;
        let store = Store::open(&folder.join("blobs")).map_err(|error| fault(&error))?;
        Ok(Self(Arc::new(Inner {
            entries,
            store,
            bytes_max,
            turn: Mutex::new(()),
        })))
    }

    /// Whether the effects of `plan` could be secured: no special file, within the limit, enough free disk.
    pub fn outlook(&self, workspace: &Workspace, plan: &Plan) -> UndoOutlook {
        if *plan == Plan::None {
            return UndoOutlook::NotNeeded;
        }
        match self.room_for(workspace, plan) {
            Ok(()) => UndoOutlook::Secured,
            Err(error) => UndoOutlook::Unsecured {
                reason: format!("It cannot be undone: {error}"),
            },
        }
    }

    fn room_for(&self, workspace: &Workspace, plan: &Plan) -> Result<(), FileError> {
        let bytes = capture::weigh(workspace, plan)?;
        let path = || plan.paths().join(", ");
        if bytes > self.0.bytes_max {
            return Err(FileError::TooLarge {
                path: path(),
                bytes,
                bytes_max: self.0.bytes_max,
            });
        }
        let free = self.0.store.free_bytes();
        let free = free.map_err(|error| FileError::from_io("the history", &error))?;
        if bytes.saturating_add(DISK_RESERVE_BYTES) > free {
            return Err(FileError::DiskFull { path: path() });
        }
        Ok(())
    }

    /// Takes the copies, and has them and the entry on disk when it returns.
    ///
    /// # Errors
    /// [`FileError::Changed`] when the plan no longer fits what stands there; [`FileError::TooLarge`] and
    /// [`FileError::DiskFull`] when there is no room for the copies; else what the system said. No entry is left.
    pub fn prepare(
        &self,
        workspace: &Workspace,
        plan: &Plan,
        meta: EntryMeta,
    ) -> Result<UndoEntry, FileError> {
        let _turn = self.turn();
        self.room_for(workspace, plan)?;
        let captured = capture::capture(workspace, plan, &self.0.store, meta.at)?;
        let root = workspace.root();
        let lengths = captured.steps.iter().map(|step| match &step.before {
            Node::File { bytes, .. } => *bytes,
            Node::Absent | Node::Folder { .. } | Node::Link { .. } => 0,
        });
        let shown = captured.steps.iter().filter(|step| !step.made);
        let entry = UndoEntry {
            id: meta.id,
            session: meta.session,
            call: meta.call,
            at: meta.at,
            workspace: crate::files::shown(root),
            title: meta.title,
            paths: captured.steps.len() as u64,
            bytes: lengths.sum(),
            shown: shown
                .take(SHOWN_PATHS_MAX)
                .map(|step| crate::files::shown(&step.path.0))
                .collect(),
            state: UndoState::Prepared,
        };
        let manifest = Manifest {
            entry: entry.clone(),
            root: Way(root.to_owned()),
            effect: Tag::of_plan(plan),
            steps: captured.steps,
            touched: captured.touched,
            known: matches!(plan, Plan::Effects(_)),
        };
        self.0.entries.save(&manifest)?;
        Ok(entry)
    }

    /// Records that the effect stands, as it stands now.
    ///
    /// # Errors
    /// What the system said.
    pub fn seal(&self, id: &UndoId) -> Result<(), FileError> {
        let _turn = self.turn();
        let named = |fault: Fault| FileError::other(id.as_str(), fault);
        let mut manifest = self.load(id).map_err(named)?;
        let workspace = manifest.workspace().map_err(named)?;
        recover::seal(&mut manifest, &workspace, &self.0.store)?;
        self.0.entries.save(&manifest)
    }

    /// An entry as it stands; none if there is no such entry.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn entry(&self, id: &UndoId) -> Result<Option<UndoEntry>, Fault> {
        Ok(self.0.entries.load(id)?.map(|manifest| manifest.entry))
    }

    /// What a restore would meet.
    ///
    /// # Errors
    /// When the entry or the workspace is gone.
    pub fn check(&self, id: &UndoId, direction: Direction) -> Result<UndoCheck, Fault> {
        let _turn = self.turn();
        let manifest = self.load(id)?;
        let workspace = manifest.workspace()?;
        let (_, conflicts) = restore::meet(&workspace, &manifest, direction)?;
        Ok(UndoCheck {
            id: id.clone(),
            conflicts,
        })
    }

    /// Takes an effect back, or brings it again: content, mode and time. Returns the number of paths.
    ///
    /// Every path is compared first. Then the way is written down, and only then something changes; when it fails
    /// half-way it goes back, and when the machine fails, [`History::recover`] finishes it.
    ///
    /// # Errors
    /// [`RestoreError::Conflict`] touches nothing.
    pub fn restore(&self, id: &UndoId, direction: Direction) -> Result<u64, RestoreError> {
        let _turn = self.turn();
        let mut manifest = self.load(id).map_err(RestoreError::Failed)?;
        restore::restore(&self.0, &mut manifest, direction)
    }

    /// After a failed effect: takes back what of it stands, and says where the entry is now: `Undone`, or `Applied` when
    /// all of it stands.
    ///
    /// # Errors
    /// When it cannot be taken back; the entry stays as it was and can be settled later.
    pub fn settle(&self, id: &UndoId) -> Result<UndoEntry, Fault> {
        let _turn = self.turn();
        let mut manifest = self.load(id)?;
        recover::settle(&self.0, &mut manifest)?;
        Ok(manifest.entry)
    }

    /// Finishes what a crash interrupted and sweeps temporary files; returns the entries whose state it settled. An
    /// entry whose workspace is gone is left as it is.
    ///
    /// # Errors
    /// The first thing that could not be finished, after everything else was.
    pub fn recover(&self) -> Result<Vec<UndoId>, Fault> {
        let _turn = self.turn();
        recover::recover(&self.0)
    }

    /// Drops the entries that are not kept, and every copy that no entry needs; returns the bytes freed. An entry whose
    /// restore is under way is kept.
    ///
    /// # Errors
    /// What the system said.
    pub fn collect(&self, keep: &dyn Fn(&UndoId) -> bool) -> Result<u64, Fault> {
        let _turn = self.turn();
        recover::collect(&self.0, keep)
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        // The lock guards nothing in memory; what is on disk is whole after every step.
        self.0
            .turn
            .lock()
            .unwrap_or_else(|poison| poison.into_inner())
    }

    fn load(&self, id: &UndoId) -> Result<Manifest, Fault> {
        self.0.entries.load(id)?.ok_or_else(|| {
            Fault::new(
                format!("There is no history entry `{id}`."),
                "It may have been dropped; look at the history for those that remain.",
            )
        })
    }
}

impl Manifest {
    fn workspace(&self) -> Result<Workspace, Fault> {
        Workspace::open(&self.root.0)
    }
}

#[cfg(test)]
mod tests;
