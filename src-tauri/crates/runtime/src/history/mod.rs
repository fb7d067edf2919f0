//! Copies taken before an effect, kept outside the workspace, so that one call can be taken back to the byte.
//!
//! An entry knows every path before and after. It is on disk before the effect begins. Taking entries back is an act, an
//! entry itself: it is on disk, with copies of all that it overwrites, before it touches anything. So at any moment a
//! crash can strike, and afterwards every path is on one of two known sides; and an act can be taken back like any call.
//!
//! Start reading at [`History`]; what an act would do is worked out in `walk`, and done in `restore`.

use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use protocol::history::{Collected, PathChoice, Restore, RestoreReceipt};
use protocol::preview::UndoOutlook;
use protocol::{At, CallId, Fault, Plan, SessionId, UndoEntry, UndoId, UndoState};
use serde::{Deserialize, Serialize};

use crate::limits::{DISK_RESERVE_BYTES, SHOWN_PATHS_MAX};
use crate::temp::Tag;
use crate::{FileError, Workspace, private_folder};

mod after;
mod around;
mod capture;
mod captured;
mod carry;
mod clash;
mod collect;
mod manifest;
mod merge;
mod moves;
mod node;
mod recover;
mod restore;
mod states;
mod store;
mod survey;
mod unlock;
mod walk;

pub(crate) use after::{Content, Happened, Unlock};
pub use clash::Clash;
pub use collect::Keep;
pub(crate) use manifest::Way;
use manifest::{Entries, Manifest, Step};
pub use protocol::Direction;
pub use restore::{ActMeta, Looked, Restored};
use store::Store;
use unlock::Unlocked;

/// The history of one data folder. Cheap to clone; one piece of work at a time.
#[derive(Debug, Clone)]
pub struct History(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    entries: Entries,
    store: Store,
    bytes_max: u64,
    /// Held by one piece of work at a time, of all processes that have this data folder open.
    turn: Mutex<File>,
}

/// What the history entry of a call is called and belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// Why nothing was restored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// These paths are no longer as the call left them; nothing was touched.
    #[error("Changed since, so nothing was touched: {}. Keep what is there, or put it back first.", .0.join(", "))]
    Conflict(Vec<String>),
    /// Something else.
    #[error(transparent)]
    Failed(#[from] Fault),
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
        let store = Store::open(folder).map_err(|error| fault(&error))?;
        let turn = crate::atomic::own_file(&folder.join("lock")).map_err(|error| fault(&error))?;
        Ok(Self(Arc::new(Inner {
            entries,
            store,
            bytes_max,
            turn: Mutex::new(turn),
        })))
    }

    /// Whether the effects of `plan` could be secured: no special file, within the limit, enough free disk.
    pub fn outlook(&self, workspace: &Workspace, plan: &Plan) -> UndoOutlook {
        if *plan == Plan::None {
            return UndoOutlook::NotNeeded;
        }
        match self.0.room_for(workspace, plan) {
            Ok(()) => UndoOutlook::Secured,
            Err(error) => UndoOutlook::Unsecured {
                reason: format!("It cannot be undone: {error}"),
            },
        }
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
        let _turn = self.turn()?;
        self.0.room_for(workspace, plan)?;
        let unlocked = Unlocked::new(&self.0, workspace);
        let captured = capture::capture((workspace, &unlocked), plan, &self.0.store, meta.at)?;
        unlocked.lock()?;
        let entry = entry_of(workspace, meta, &captured.steps, UndoState::Prepared);
        let manifest = Manifest {
            entry: entry.clone(),
            root: Way(workspace.root().to_owned()),
            effect: Tag::of_plan(plan),
            steps: captured.steps,
            touched: captured.touched,
            known: matches!(plan, Plan::Effects(_)),
            going_back: false,
            deed: None,
        };
        self.0.entries.save(&manifest)?;
        Ok(entry)
    }

    /// Carries out `plan`: as [`crate::apply`] does, or what a command did as it was captured, staged on disk whole before
    /// the first path changes. Modes that are in the way and that we may change are as the plan says afterwards, and where
    /// it says nothing, as before. What fails half-way is taken back by [`Self::settle`] of the entry that was prepared.
    ///
    /// # Errors
    /// As [`crate::apply`].
    pub fn carry_out(&self, workspace: &Workspace, plan: &Plan) -> Result<(), FileError> {
        let Plan::Effects(captured) = plan else {
            return crate::apply(workspace, plan);
        };
        let _turn = self.turn()?;
        let unlocked = Unlocked::new(&self.0, workspace);
        captured::carry_out(&unlocked, plan, captured)?;
        unlocked.lock()
    }

    /// Records that the effect stands: as it was captured where that is known to the byte, else as it stands now.
    ///
    /// # Errors
    /// What the system said of the history. Nothing in the workspace keeps an entry from being sealed.
    pub fn seal(&self, id: &UndoId) -> Result<(), FileError> {
        let _turn = self.turn()?;
        let named = |fault: Fault| FileError::other(id.as_str(), fault);
        let mut manifest = self.0.load(id).map_err(named)?;
        let workspace = manifest.workspace().map_err(named)?;
        let unlocked = Unlocked::new(&self.0, &workspace);
        recover::seal(&mut manifest, &unlocked, &self.0.store)?;
        self.0.entries.save(&manifest)
    }

    /// Every entry as it stands, acts among them, the oldest first.
    ///
    /// # Errors
    /// When the history cannot be read. A single entry that cannot be read is left out.
    pub fn entries(&self) -> Result<Vec<UndoEntry>, Fault> {
        Ok(self.0.entries.list()?.entries)
    }

    /// An entry as it stands; none if there is no such entry.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn entry(&self, id: &UndoId) -> Result<Option<UndoEntry>, Fault> {
        Ok(self.entries()?.into_iter().find(|entry| entry.id == *id))
    }

    /// What an act would meet and do. Nothing is changed.
    ///
    /// # Errors
    /// When an entry is missing or stands on that side already, or the workspace is gone.
    pub fn look(&self, restore: &Restore) -> Result<Looked, Fault> {
        let _turn = self.turn()?;
        restore::look(&self.0, restore)
    }

    /// Takes entries back, or brings one again: content, mode and time of their paths, and nothing else.
    ///
    /// Every path is compared first. Then what is overwritten by choice is secured, the act is written down, and only
    /// then something changes; when it fails half-way it goes back, and when the machine fails, [`History::recover`]
    /// finishes it.
    ///
    /// # Errors
    /// [`RestoreError::Conflict`] for paths that changed since and have no choice; nothing was touched.
    pub fn restore(
        &self,
        restore: &Restore,
        choices: &[PathChoice],
        meta: ActMeta,
    ) -> Result<Restored, RestoreError> {
        let _turn = self.turn().map_err(Fault::from)?;
        restore::act(&self.0, restore, choices, meta)
    }

    /// What an act did, path by path.
    ///
    /// # Errors
    /// When there is no such act.
    pub fn receipt(&self, id: &UndoId) -> Result<RestoreReceipt, Fault> {
        let entry = self.entry(id)?.ok_or_else(|| missing(id))?;
        let manifest = self.0.load(id)?;
        Ok(RestoreReceipt {
            entry,
            ..restore::receipt(&manifest)
        })
    }

    /// After a failed effect: takes back what of it stands, and says where the entry is now: `Undone`, or `Applied` when
    /// all of it stands.
    ///
    /// # Errors
    /// When it cannot be taken back; the entry stays as it was and can be settled later.
    pub fn settle(&self, id: &UndoId) -> Result<UndoEntry, Fault> {
        let _turn = self.turn()?;
        let mut manifest = self.0.load(id)?;
        recover::settle(&self.0, &mut manifest)?;
        Ok(manifest.entry)
    }

    /// Finishes what a crash interrupted and sweeps temporary files; returns the entries whose state it settled. An
    /// entry whose workspace is gone is left as it is, and so is the effect of a call in a session that somebody is
    /// `at_work` in: it may be under way.
    ///
    /// # Errors
    /// The first thing that could not be finished, after everything else was.
    pub fn recover(&self, at_work: impl Fn(&SessionId) -> bool) -> Result<Vec<UndoId>, Fault> {
        let _turn = self.turn()?;
        recover::recover(&self.0, at_work)
    }

    /// Drops what is not kept, and every copy that no entry needs. What is under way is kept.
    ///
    /// # Errors
    /// What the system said.
    pub fn collect(&self, keep: &Keep) -> Result<Collected, Fault> {
        let _turn = self.turn()?;
        collect::collect(&self.0, keep)
    }

    /// What the history takes on disk, in bytes.
    ///
    /// # Errors
    /// What the system said.
    pub fn size(&self) -> Result<u64, Fault> {
        collect::size(&self.0)
    }

    fn turn(&self) -> Result<Turn<'_>, FileError> {
        // The lock guards nothing in memory; what is on disk is whole after every step.
        let file = self
            .0
            .turn
            .lock()
            .unwrap_or_else(|poison| poison.into_inner());
        file.lock()
            .map_err(|error| FileError::from_io("the history", &error))?;
        let turn = Turn(file);
        unlock::lock_left_open(&self.0);
        Ok(turn)
    }
}

/// One piece of work on the history: nobody else, in this process or another, works on it meanwhile.
struct Turn<'a>(MutexGuard<'a, File>);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "the history stays locked until the end of this process");
        }
    }
}

impl Inner {
    fn load(&self, id: &UndoId) -> Result<Manifest, Fault> {
        self.entries.load(id)?.ok_or_else(|| missing(id))
    }

    fn room_for(&self, workspace: &Workspace, plan: &Plan) -> Result<(), FileError> {
        let bytes = capture::weigh(workspace, plan)?;
        self.room(bytes, || plan.paths().join(", "))
    }

    /// Whether so many bytes more can be kept for one entry.
    fn room(&self, bytes: u64, path: impl Fn() -> String) -> Result<(), FileError> {
        if bytes > self.bytes_max {
            return Err(FileError::TooLarge {
                path: path(),
                bytes,
                bytes_max: self.bytes_max,
            });
        }
        let free = self.store.free_bytes();
        let free = free.map_err(|error| FileError::from_io("the history", &error))?;
        if bytes.saturating_add(DISK_RESERVE_BYTES) > free {
            return Err(FileError::DiskFull { path: path() });
        }
        Ok(())
    }
}

impl Manifest {
    fn workspace(&self) -> Result<Workspace, Fault> {
        Workspace::open(&self.root.0)
    }
}

/// The entry of a call that changed these paths, or is about to.
fn entry_of(workspace: &Workspace, meta: EntryMeta, steps: &[Step], state: UndoState) -> UndoEntry {
    UndoEntry {
        id: meta.id,
        session: meta.session,
        call: meta.call,
        act: None,
        at: meta.at,
        workspace: crate::files::shown(workspace.root()),
        title: meta.title,
        paths: steps.len() as u64,
        bytes: steps.iter().map(|step| node::bytes(&step.before)).sum(),
        shown: first_shown(steps),
        state,
    }
}

/// The first paths of an entry, without folders that were only made on the way.
fn first_shown(steps: &[Step]) -> Vec<String> {
    let shown = steps.iter().filter(|step| !step.made);
    shown
        .take(SHOWN_PATHS_MAX)
        .map(|step| crate::files::shown(&step.path.0))
        .collect()
}

fn missing(id: &UndoId) -> Fault {
    Fault::new(
        format!("There is no history entry `{id}`."),
        "It may have been dropped; look at the history for those that remain.",
    )
}

#[cfg(test)]
mod tests;
