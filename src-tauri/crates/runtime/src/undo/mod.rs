//! Copies taken before an effect, kept outside the workspace, so that one call can be taken back to the byte.
//!
//! An entry knows every path before and after. It is on disk before the effect begins. Restoring entries is an act, an
//! entry itself: it is on disk, with copies of everything that it overwrites, before it touches anything. So a crash
//! can strike at any moment, and afterwards every path is on one of two known sides; and an act can be undone like any
//! call.
//!
//! Start reading at [`History`]; an act is planned in `walk`, and carried out in `restore`.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use protocol::history::{CollectionReceipt, PathChoice, RestoreReceipt, RestoreRequest};
use protocol::view::preview::UndoAvailability;
use protocol::{At, CallId, Plan, SessionId, UndoEntry, UndoId, UndoState, UserError};
use serde::{Deserialize, Serialize};

use crate::fs::at_path::AtPath as _;
use crate::fs::temp::TempTag;
use crate::limits::{DISK_RESERVE_BYTES, ENTRY_PATHS_SHOWN_MAX};
use crate::{FileError, Workspace, create_private_folder};

mod permissions;
mod recover;
mod removal;
mod retention;
mod store;

pub(crate) use crate::undo::capture::observed::{ContentSink, ObservedChanges, UnlockFn};
pub(crate) use crate::undo::entry::manifest::RelPath;
use crate::undo::entry::manifest::{ManifestStore, UndoManifest, UndoStep};
pub use crate::undo::restore::conflict::PathConflict;
pub use crate::undo::restore::execute::{RestoreCheck, RestoreMeta, RestoreResult};
use permissions::UnlockedPaths;
pub use protocol::UndoDirection;
pub use removal::RemovedEntries;
pub use retention::RetentionLimits;
use store::CopyStore;

/// The history of one data folder. Cheap to clone; one operation at a time.
#[derive(Debug, Clone)]
pub struct History(Arc<HistoryInner>);

#[derive(Debug)]
struct HistoryInner {
    entries: ManifestStore,
    store: CopyStore,
    bytes_max: u64,
    /// Lock held by one operation at a time, of all processes that have this data folder open.
    exclusive_lock: Mutex<File>,
}

/// Identity and title of the history entry of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoEntryMeta {
    /// Id of the entry.
    pub id: UndoId,
    /// The session of the call.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// The current time.
    pub at: At,
    /// Title of the entry: "Deleted tests/old".
    pub title: String,
}

/// Why nothing was restored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// These paths are no longer as the call left them; nothing was touched.
    #[error("Changed since, so nothing was touched: {}. Keep what is there, or put it back first.", .0.join(", "))]
    Conflict(Vec<String>),
    /// Any other error.
    #[error(transparent)]
    Failed(#[from] UserError),
}

impl History {
    /// Opens or creates the store in `folder`, for the owner alone. One entry may hold at most `bytes_max` bytes.
    ///
    /// # Errors
    /// When the folder cannot be created or written.
    pub fn open(folder: &Path, bytes_max: u64) -> Result<Self, UserError> {
        let fault = |error: &dyn std::error::Error| {
            let message = format!("The undo history `{}` cannot be opened.", folder.display());
            UserError::new(message, "Check the permissions of the data folder.").with_source(error)
        };
        let entries = ManifestStore(folder.join("entries"));
        create_private_folder(&entries.0).map_err(|error| fault(&error))?;
        let store = CopyStore::open(folder).map_err(|error| fault(&error))?;
        let turn = crate::fs::atomic::open_private_file(&folder.join("lock"))
            .map_err(|error| fault(&error))?;
        Ok(Self(Arc::new(HistoryInner {
            entries,
            store,
            bytes_max,
            exclusive_lock: Mutex::new(turn),
        })))
    }

    /// Whether the effects of `plan` could be undone: no special file, within the limit, enough free disk space.
    pub fn undo_availability(&self, workspace: &Workspace, plan: &Plan) -> UndoAvailability {
        if *plan == Plan::None {
            return UndoAvailability::NotNeeded;
        }
        match self.0.check_space_for_plan(workspace, plan) {
            Ok(()) => UndoAvailability::Secured,
            Err(error) => UndoAvailability::Unsecured {
                reason: format!("It cannot be undone: {error}"),
            },
        }
    }

    /// Takes the copies for undo, and has them and the entry on disk when it returns.
    ///
    /// # Errors
    /// [`FileError::Changed`] when the plan no longer matches the workspace; [`FileError::TooLarge`] and
    /// [`FileError::DiskFull`] when there is no room for the copies; otherwise any error reported by the system. No
    /// entry is left then.
    pub fn prepare_entry(
        &self,
        workspace: &Workspace,
        plan: &Plan,
        meta: UndoEntryMeta,
    ) -> Result<UndoEntry, FileError> {
        let _turn = self.lock_exclusive()?;
        self.0.check_space_for_plan(workspace, plan)?;
        let unlocked = UnlockedPaths::new(&self.0, workspace);
        let captured = crate::undo::capture::plan::capture_plan(
            workspace,
            &unlocked,
            plan,
            &self.0.store,
            meta.at,
        )?;
        unlocked.relock()?;
        let entry = build_entry(workspace, meta, &captured.steps, UndoState::Prepared);
        let manifest = UndoManifest {
            entry: entry.clone(),
            root: RelPath(workspace.root().to_owned()),
            effect: TempTag::from_plan(plan),
            steps: captured.steps,
            touched: captured.touched,
            known: matches!(plan, Plan::Effects(_)),
            going_back: false,
            deed: None,
        };
        self.0.entries.save(&manifest)?;
        Ok(entry)
    }

    /// Carries out `plan`: as [`crate::fs::apply`] does, or the captured changes of a command, staged on disk whole
    /// before the first path changes. Modes that are in the way and that the current user may change are as the plan
    /// says afterwards, and where it says nothing, as before. A failure half-way is taken back by
    /// [`Self::settle_failed`] of the entry that was prepared.
    ///
    /// # Errors
    /// As [`crate::fs::apply`].
    pub fn apply_plan(&self, workspace: &Workspace, plan: &Plan) -> Result<(), FileError> {
        let Plan::Effects(captured) = plan else {
            return crate::apply_plan(workspace, plan);
        };
        let _turn = self.lock_exclusive()?;
        let unlocked = UnlockedPaths::new(&self.0, workspace);
        crate::undo::capture::command::apply_captured(&unlocked, plan, captured)?;
        unlocked.relock()
    }

    /// Records that the effect stands: as it was captured where that is known to the byte, otherwise as it stands now.
    ///
    /// # Errors
    /// Any error reported by the system about the history. Nothing in the workspace keeps an entry from being sealed.
    pub fn mark_applied(&self, id: &UndoId) -> Result<(), FileError> {
        let _turn = self.lock_exclusive()?;
        let named = |fault: UserError| FileError::from_display(id.as_str(), fault);
        let mut manifest = self.0.load_manifest(id).map_err(named)?;
        let workspace = manifest.open_workspace().map_err(named)?;
        let unlocked = UnlockedPaths::new(&self.0, &workspace);
        recover::mark_applied(&mut manifest, &unlocked, &self.0.store)?;
        self.0.entries.save(&manifest)
    }

    /// Returns every entry in its present state, acts among them, the oldest first.
    ///
    /// # Errors
    /// When the history cannot be read. A single entry that cannot be read is left out.
    pub fn entries(&self) -> Result<Vec<UndoEntry>, UserError> {
        Ok(self.0.entries.list()?.entries)
    }

    /// Returns an entry in its present state; `None` if there is no such entry.
    ///
    /// # Errors
    /// When the history cannot be read.
    pub fn entry(&self, id: &UndoId) -> Result<Option<UndoEntry>, UserError> {
        Ok(self.entries()?.into_iter().find(|entry| entry.id == *id))
    }

    /// Returns the conflicts that a restore would meet and the changes that it would make. Nothing is changed.
    ///
    /// # Errors
    /// When an entry is missing or stands on that side already, or the workspace is gone.
    pub fn preview_restore(&self, restore: &RestoreRequest) -> Result<RestoreCheck, UserError> {
        let _turn = self.lock_exclusive()?;
        crate::undo::restore::execute::preview_restore(&self.0, restore)
    }

    /// Undoes entries, or redoes one: content, mode and time of their paths, and nothing else.
    ///
    /// Every path is compared first. Then everything that is overwritten by choice is copied, the act is recorded, and
    /// only then something changes; when it fails half-way it is rolled back, and when the machine fails,
    /// [`History::recover_interrupted`] finishes it.
    ///
    /// # Errors
    /// [`RestoreError::Conflict`] for paths that changed since and have no choice; nothing was touched.
    pub fn restore(
        &self,
        restore: &RestoreRequest,
        choices: &[PathChoice],
        meta: RestoreMeta,
    ) -> Result<RestoreResult, RestoreError> {
        let _turn = self.lock_exclusive().map_err(UserError::from)?;
        crate::undo::restore::execute::execute_restore(&self.0, restore, choices, meta)
    }

    /// Returns the changes of an act, path by path.
    ///
    /// # Errors
    /// When there is no such act.
    pub fn receipt(&self, id: &UndoId) -> Result<RestoreReceipt, UserError> {
        let entry = self.entry(id)?.ok_or_else(|| missing_entry_error(id))?;
        let manifest = self.0.load_manifest(id)?;
        Ok(RestoreReceipt {
            entry,
            ..crate::undo::restore::execute::build_receipt(&manifest)
        })
    }

    /// Takes back the part of a failed effect that stands, and returns the entry in its new state: `Undone`, or
    /// `Applied` when all of the effect stands.
    ///
    /// # Errors
    /// When the effect cannot be taken back; the entry stays as it was and can be settled later.
    pub fn settle_failed(&self, id: &UndoId) -> Result<UndoEntry, UserError> {
        let _turn = self.lock_exclusive()?;
        let mut manifest = self.0.load_manifest(id)?;
        recover::settle_entry(&self.0, &mut manifest)?;
        Ok(manifest.entry)
    }

    /// Finishes what a crash interrupted and removes temporary files; returns the entries whose state was settled. An
    /// entry whose workspace is gone is left as it is, and so is the effect of a call in a session for which `at_work`
    /// is true: the effect may be under way.
    ///
    /// # Errors
    /// The first failure, after everything else was finished.
    pub fn recover_interrupted(
        &self,
        at_work: impl Fn(&SessionId) -> bool,
    ) -> Result<Vec<UndoId>, UserError> {
        let _turn = self.lock_exclusive()?;
        recover::recover_interrupted(&self.0, at_work)
    }

    /// Drops entries beyond the retention limits, and every copy that no entry needs. Entries under way are kept.
    ///
    /// # Errors
    /// Any error reported by the system.
    pub fn collect_garbage(&self, keep: &RetentionLimits) -> Result<CollectionReceipt, UserError> {
        let _turn = self.lock_exclusive()?;
        retention::collect_garbage(&self.0, keep)
    }

    /// Tells what [`History::remove_sessions`] would take away. Nothing is changed.
    ///
    /// # Errors
    /// As of the removal.
    pub fn preview_removal(
        &self,
        sessions: &BTreeSet<SessionId>,
    ) -> Result<RemovedEntries, UserError> {
        let _turn = self.lock_exclusive()?;
        removal::preview_removal(&self.0, sessions)
    }

    /// Removes the entries of sessions, and every copy that no other entry needs.
    ///
    /// # Errors
    /// One of the entries is under way, in which case nothing is removed; or any error reported by the system.
    pub fn remove_sessions(
        &self,
        sessions: &BTreeSet<SessionId>,
    ) -> Result<RemovedEntries, UserError> {
        let _turn = self.lock_exclusive()?;
        removal::remove_entries(&self.0, sessions)
    }

    /// Returns the space that the history takes on disk, in bytes.
    ///
    /// # Errors
    /// Any error reported by the system.
    pub fn disk_bytes(&self) -> Result<u64, UserError> {
        retention::disk_bytes(&self.0)
    }

    fn lock_exclusive(&self) -> Result<ExclusiveLock<'_>, FileError> {
        // The lock guards nothing in memory; what is on disk is whole after every step.
        let file = self
            .0
            .exclusive_lock
            .lock()
            .unwrap_or_else(|poison| poison.into_inner());
        file.lock().at("the history")?;
        let turn = ExclusiveLock(file);
        permissions::relock_after_crash(&self.0);
        Ok(turn)
    }
}

/// Exclusive access to the history: nobody else, in this process or another, works on it meanwhile.
struct ExclusiveLock<'a>(MutexGuard<'a, File>);

impl Drop for ExclusiveLock<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "the history stays locked until the end of this process");
        }
    }
}

impl HistoryInner {
    fn load_manifest(&self, id: &UndoId) -> Result<UndoManifest, UserError> {
        self.entries
            .load(id)?
            .ok_or_else(|| missing_entry_error(id))
    }

    fn check_space_for_plan(&self, workspace: &Workspace, plan: &Plan) -> Result<(), FileError> {
        let bytes = crate::undo::capture::plan::measure_plan(workspace, plan)?;
        self.check_space(bytes, || plan.paths().join(", "))
    }

    /// Checks that so many more bytes can be kept for one entry.
    fn check_space(&self, bytes: u64, path: impl Fn() -> String) -> Result<(), FileError> {
        if bytes > self.bytes_max {
            return Err(FileError::TooLarge {
                path: path(),
                bytes,
                bytes_max: self.bytes_max,
            });
        }
        let free = self.store.free_bytes().at("the history")?;
        if bytes.saturating_add(DISK_RESERVE_BYTES) > free {
            return Err(FileError::DiskFull { path: path() });
        }
        Ok(())
    }
}

impl UndoManifest {
    fn open_workspace(&self) -> Result<Workspace, UserError> {
        Workspace::open(&self.root.0)
    }
}

/// Builds the entry of a call that changed these paths, or is about to.
fn build_entry(
    workspace: &Workspace,
    meta: UndoEntryMeta,
    steps: &[UndoStep],
    state: UndoState,
) -> UndoEntry {
    UndoEntry {
        id: meta.id,
        session: meta.session,
        call: meta.call,
        action: None,
        at: meta.at,
        workspace: crate::fs::workspace::display_path(workspace.root()),
        title: meta.title,
        paths: steps.len() as u64,
        bytes: steps
            .iter()
            .map(|step| crate::undo::entry::node::content_bytes(&step.before))
            .sum(),
        shown: first_paths(steps),
        state,
    }
}

/// Returns the first paths of an entry, without folders that were only created on the way.
fn first_paths(steps: &[UndoStep]) -> Vec<String> {
    let shown = steps.iter().filter(|step| !step.made);
    shown
        .take(ENTRY_PATHS_SHOWN_MAX)
        .map(|step| crate::fs::workspace::display_path(&step.path.0))
        .collect()
}

fn missing_entry_error(id: &UndoId) -> UserError {
    UserError::new(
        format!("There is no history entry `{id}`."),
        "It may have been dropped; look at the history for those that remain.",
    )
}

pub(crate) mod capture;
pub(crate) mod entry;
pub(crate) mod restore;
#[cfg(test)]
mod tests;
