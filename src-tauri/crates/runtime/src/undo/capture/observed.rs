//! An act that is recorded after it was done: by a command that ran for real, over a picture of how everything was before.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use protocol::history::Node;
use protocol::{Digest, UndoEntry, UndoState};

use crate::fs::dir::Dir;
use crate::fs::temp::TempTag;
use crate::undo::entry::manifest::{RelPath, TouchedFolder, UndoManifest, UndoStep};
use crate::undo::permissions::{AccessNeed, UnlockedPaths};
use crate::undo::{History, UndoEntryMeta, build_entry};
use crate::{FileError, Workspace};

/// Takes the content of an open file of about so many bytes; gives its digest and its length.
pub(crate) type ContentSink<'a> = &'a mut dyn FnMut(&mut File, u64) -> io::Result<(Digest, u64)>;

/// Lets its owner read what stands at a path, until what happened is recorded.
pub(crate) type UnlockFn<'a> = &'a dyn Fn(&Path) -> Result<(), FileError>;

/// What became another.
#[derive(Debug, Default)]
pub(crate) struct ObservedChanges {
    /// Every path before and after, in order: a folder comes before what is in it. One that is `true` may stay when it is
    /// taken back and something else is in it.
    pub steps: Vec<(PathBuf, Node, Node, bool)>,
    /// Folders that stayed: their times before and after.
    pub folders: Vec<(PathBuf, i64, i64)>,
}

impl History {
    /// Where pictures of workspaces lie while commands run in them. Each is a folder of its own.
    pub(crate) fn snapshots_folder(&self) -> PathBuf {
        self.0.entries.0.with_file_name("pictures")
    }

    /// How many bytes of contents one entry may hold.
    pub(crate) fn entry_bytes_max(&self) -> u64 {
        self.0.bytes_max
    }

    /// Does something while nobody else, in this process or another, works on the history.
    pub(crate) fn with_exclusive_lock<T>(&self, work: impl FnOnce() -> T) -> Result<T, FileError> {
        let _turn = self.lock_exclusive()?;
        Ok(work())
    }

    /// Records what happened, as it stands, with copies of both sides, and has it on disk when it returns. `before` is the
    /// picture of the workspace. `look` says what happened, unlocks what it could not read else, and hands every content that
    /// the entry is to keep on. No entry where nothing happened; the one that is there already where it was recorded before.
    ///
    /// # Errors
    /// What `look` says, and what the system said. No entry is left.
    pub(crate) fn record_observed<T>(
        &self,
        workspace: &Workspace,
        before: &Dir,
        meta: UndoEntryMeta,
        look: impl FnOnce(ContentSink<'_>, UnlockFn<'_>) -> Result<(ObservedChanges, T), FileError>,
    ) -> Result<(Option<UndoEntry>, T), FileError> {
        let failed = |error: io::Error| FileError::from_io("the history", &error);
        let _turn = self.lock_exclusive()?;
        let mut batch = self.0.store.start_batch().map_err(failed)?;
        let unlocked = UnlockedPaths::new(&self.0, workspace);
        let unlock = |path: &Path| unlocked.unlock_paths([(path, AccessNeed::Read)]);
        let (happened, told) = look(&mut |file, bytes| batch.put_file(file, bytes), &unlock)?;
        if happened.steps.is_empty() {
            unlocked.relock()?;
            self.0.store.remove_partial_files().map_err(failed)?;
            return Ok((None, told));
        }
        batch.commit().map_err(failed)?;
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
