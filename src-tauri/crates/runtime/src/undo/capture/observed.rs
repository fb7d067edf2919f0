//! Entries that are recorded after the change: by a command that ran for real, over a snapshot of the state before.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use protocol::history::Node;
use protocol::{Digest, UndoEntry, UndoState};

use crate::fs::at_path::AtPath as _;
use crate::fs::dir::Dir;
use crate::fs::temp::TempTag;
use crate::undo::entry::manifest::{RelPath, TouchedFolder, UndoManifest, UndoStep};
use crate::undo::permissions::UnlockedPaths;
use crate::undo::{History, UndoEntryMeta, build_entry};
use crate::{FileError, Workspace};

/// Takes the content of an open file of about so many bytes; returns its digest and its length.
pub(crate) type ContentSink<'a> = &'a mut dyn FnMut(&mut File, u64) -> io::Result<(Digest, u64)>;

/// Gives the owner read access to a path, until the changes are recorded.
pub(crate) type UnlockFn<'a> = &'a dyn Fn(&Path) -> Result<(), FileError>;

/// The changes that were observed.
#[derive(Debug, Default)]
pub(crate) struct ObservedChanges {
    /// Every path before and after, in order: a folder comes before its content. A folder marked `true` may stay on
    /// undo when something else is in it.
    pub steps: Vec<(PathBuf, Node, Node, bool)>,
    /// Folders that stayed, with their times before and after, in nanoseconds.
    pub folders: Vec<(PathBuf, i64, i64)>,
}

impl History {
    /// Returns the folder in which snapshots of workspaces lie while commands run in them. Each is a folder of its own.
    pub(crate) fn snapshots_folder(&self) -> PathBuf {
        self.0.entries.0.with_file_name("pictures")
    }

    /// Returns how many bytes of contents one entry may hold.
    pub(crate) fn entry_bytes_max(&self) -> u64 {
        self.0.bytes_max
    }

    /// Runs `work` while nobody else, in this process or another, works on the history.
    pub(crate) fn with_exclusive_lock<T>(&self, work: impl FnOnce() -> T) -> Result<T, FileError> {
        let _turn = self.lock_exclusive()?;
        Ok(work())
    }

    /// Records observed changes, as they stand, with copies of both sides, and has the entry on disk when it returns.
    /// `before` is the snapshot of the workspace. `look` finds the changes, unlocks paths that it could not read
    /// otherwise, and passes on every content that the entry is to keep. Returns no entry if nothing changed, and the
    /// existing one if the changes were recorded before.
    ///
    /// # Errors
    /// Errors of `look`, and any error reported by the system. No entry is left then.
    pub(crate) fn record_observed<T>(
        &self,
        workspace: &Workspace,
        before: &Dir,
        meta: UndoEntryMeta,
        look: impl FnOnce(ContentSink<'_>, UnlockFn<'_>) -> Result<(ObservedChanges, T), FileError>,
    ) -> Result<(Option<UndoEntry>, T), FileError> {
        let _turn = self.lock_exclusive()?;
        let mut batch = self.0.store.start_batch().at("the history")?;
        let unlocked = UnlockedPaths::new(&self.0, workspace);
        let unlock = |path: &Path| unlocked.unlock_for_reading([path]);
        let (happened, told) = look(&mut |file, bytes| batch.put_file(file, bytes), &unlock)?;
        if happened.steps.is_empty() {
            unlocked.relock()?;
            self.0.store.remove_partial_files().at("the history")?;
            return Ok((None, told));
        }
        batch.commit().at("the history")?;
        let manifest = build_manifest(workspace, before, meta, happened);
        unlocked.relock()?;
        self.0.entries.save(&manifest)?;
        Ok((Some(manifest.entry), told))
    }
}

fn build_manifest(
    workspace: &Workspace,
    before: &Dir,
    meta: UndoEntryMeta,
    happened: ObservedChanges,
) -> UndoManifest {
    let stepped: BTreeSet<&Path> = happened.steps.iter().map(|one| one.0.as_path()).collect();
    let folders = happened.folders.iter();
    let touched = folders
        .filter(|(path, ..)| !stepped.contains(path.as_path()))
        .map(|(path, before_ns, after_ns)| TouchedFolder {
            path: RelPath(path.clone()),
            before_ns: *before_ns,
            after_ns: Some(*after_ns),
        });
    let touched = touched.collect();
    let steps = happened.steps.into_iter();
    let steps: Vec<UndoStep> = steps
        .map(|(path, was, is, made)| UndoStep {
            before_traits: before.attributes_at(&path),
            after_traits: workspace.dir().attributes_at(&path),
            path: RelPath(path),
            before: was,
            after: is,
            made,
        })
        .collect();
    let effect = TempTag::from_bytes(meta.id.as_str().as_bytes());
    UndoManifest {
        entry: build_entry(workspace, meta, &steps, UndoState::Applied),
        root: RelPath(workspace.root().to_owned()),
        effect,
        steps,
        touched,
        known: true,
        going_back: false,
        deed: None,
    }
}
