//! Recovery after a crash or a failed effect: every entry is brought to one side, and nothing temporary stays.

use std::io;

use protocol::{SessionId, UndoDirection, UndoId, UndoState, UserError};

use super::HistoryInner;
use super::permissions::UnlockedPaths;
use super::store::CopyStore;
use crate::FileError;
use crate::fs::at_path::AtPath as _;
use crate::fs::workspace::display_path;
use crate::undo::entry::manifest::UndoManifest;
use crate::undo::entry::node;
use crate::undo::entry::node::MatchLevel;
use crate::undo::restore::execute::{
    DirectionRun, apply_direction, finish_restore, remove_staged_files, resume_direction,
};
use crate::undo::restore::survey::{PathState, survey_paths};

/// Records that the effect stands. Paths that are known to the byte are not read again; other paths that cannot be read
/// are assumed to be as planned.
pub(super) fn mark_applied(
    manifest: &mut UndoManifest,
    unlocked: &UnlockedPaths,
    store: &CopyStore,
) -> Result<(), FileError> {
    if !manifest.known {
        observe_after(manifest, unlocked, store)?;
    }
    let touched = manifest.touched.iter().map(|touched| &*touched.path.0);
    unlocked.unlock_for_reading(touched)?;
    for touched in &mut manifest.touched {
        // Without it the folder keeps the time that it gets when names in it come back.
        let stat = unlocked.stat(&touched.path.0).ok().flatten();
        touched.after_ns = stat.map(|stat| stat.mtime_ns);
    }
    unlocked.relock()?;
    manifest.entry.state = UndoState::Applied;
    Ok(())
}

/// Observes every path as the effect left it.
fn observe_after(
    manifest: &mut UndoManifest,
    unlocked: &UnlockedPaths,
    store: &CopyStore,
) -> Result<(), FileError> {
    let paths = manifest.steps.iter().map(|step| step.path.0.as_path());
    unlocked.unlock_for_reading(paths)?;
    let mut batch = store.start_batch().at("the history")?;
    for step in &mut manifest.steps {
        match node::capture_node(unlocked, &step.path.0, &mut batch) {
            Ok(Some(node)) => {
                step.after = node;
                step.after_traits = unlocked.dir().attributes_at(&step.path.0);
            }
            Ok(None) => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                tracing::debug!(path = %display_path(&step.path.0), %error, "taken to be as planned");
            }
            Err(error) => return Err(FileError::from_io(display_path(&step.path.0), &error)),
        }
    }
    batch.commit().at("the history")
}

/// Brings an entry to one side if it is not known whether its effect stands.
pub(super) fn settle_entry(
    inner: &HistoryInner,
    manifest: &mut UndoManifest,
) -> Result<(), UserError> {
    if manifest.entry.state != UndoState::Prepared {
        return Ok(());
    }
    let workspace = manifest.open_workspace()?;
    let unlocked = UnlockedPaths::new(inner, &workspace);
    let fit = match_level_for(manifest);
    let states = survey_paths(&unlocked, &manifest.steps, UndoDirection::Undo, fit)?;
    // A step that changes nothing speaks for neither side.
    let paths: Vec<PathState> = manifest
        .steps
        .iter()
        .zip(&states)
        .filter(|(step, _)| !node::is_same_node(&step.before, &step.after, fit))
        .map(|(_, stand)| *stand)
        .collect();
    if !manifest.going_back && !paths.contains(&PathState::AtTarget) {
        remove_staged_files(&unlocked, manifest)?;
        if manifest.known {
            // Its paths are all there: folders get their modes and times last, however often that takes.
            resume_direction(inner, &unlocked, manifest, UndoDirection::Redo)?;
            remove_staged_files(&unlocked, manifest)?;
        }
        mark_applied(manifest, &unlocked, &inner.store)?;
        inner.entries.save(manifest)?;
        return Ok(());
    }
    // Never begun: then its folders are as they were, or as somebody else made them since.
    let begun = manifest.going_back || paths.contains(&PathState::AtOrigin);
    manifest.going_back = true;
    inner.entries.save(manifest)?;
    remove_staged_files(&unlocked, manifest)?;
    let run = DirectionRun {
        direction: UndoDirection::Undo,
        states: &states,
        is_resumed: begun,
    };
    apply_direction(inner, &unlocked, manifest, run)?;
    remove_staged_files(&unlocked, manifest)?;
    unlocked.relock()?;
    manifest.entry.state = UndoState::Undone;
    manifest.going_back = false;
    inner.entries.save(manifest)?;
    Ok(())
}

/// Returns how closely a path must match while it is not known whether the effect stands.
fn match_level_for(manifest: &UndoManifest) -> MatchLevel {
    match manifest.known {
        true => MatchLevel::InProgress,
        false => MatchLevel::Loose,
    }
}

/// Brings every entry that no process works on any more to one side; returns the entries whose state was settled.
pub(super) fn recover_interrupted(
    inner: &HistoryInner,
    at_work: impl Fn(&SessionId) -> bool,
) -> Result<Vec<UndoId>, UserError> {
    inner.entries.remove_partial_files().at("the history")?;
    inner.store.remove_partial_files().at("the history")?;
    let mut settled = Vec::new();
    let mut first_fault = None;
    for entry in inner.entries.list()?.entries {
        // An act has its turn from its beginning to its end: one that is not finished is nobody's.
        let is_somebodys = entry.action.is_none() && at_work(&entry.session);
        if entry.state != UndoState::Prepared || is_somebodys {
            continue;
        }
        let Some(mut manifest) = inner.entries.load(&entry.id)? else {
            continue;
        };
        if !manifest.root.0.is_dir() {
            tracing::warn!(id = %entry.id, root = %display_path(&manifest.root.0), "the workspace is gone");
            continue;
        }
        let result = match entry.action {
            Some(_) => manifest.open_workspace().and_then(|workspace| {
                let unlocked = UnlockedPaths::new(inner, &workspace);
                finish_restore(inner, &unlocked, &mut manifest).map_err(UserError::from)
            }),
            None => settle_entry(inner, &mut manifest),
        };
        match result {
            Ok(()) => settled.push(entry.id),
            Err(fault) => {
                tracing::warn!(id = %entry.id, %fault, "not finished");
                first_fault.get_or_insert(fault);
            }
        }
    }
    first_fault.map_or(Ok(settled), Err)
}
