//! Executes an act: planned first, backed up, recorded, carried out, or rolled back.

use std::path::{Path, PathBuf};

use protocol::history::{
    Node, PathChange, PathChoice, PathReceipt, RestoreCoverage, RestorePreview, RestoreReceipt,
    RestoreRequest,
};
use protocol::{At, UndoDirection, UndoEntry, UndoId, UndoState, UserError};

use crate::FileError;
use crate::fs::at_path::AtPath as _;
use crate::fs::temp::{TempTag, sweep_temp_files};
use crate::fs::workspace::display_path;
use crate::limits::{CONFLICTS_MAX, RECEIPT_PATHS_MAX};
use crate::undo::entry::manifest::{RestoreActions, UndoManifest};
use crate::undo::entry::node;
use crate::undo::entry::node::MatchLevel;
use crate::undo::permissions::{AccessNeed, UnlockedPaths};
use crate::undo::restore::apply::{ContentSource, StepApplier};
use crate::undo::restore::conflict::PathConflict;
use crate::undo::restore::selection::RestoreSelection;
use crate::undo::restore::survey::{PathState, survey_paths};
use crate::undo::restore::walk::{RestorePlan, plan_restore};
use crate::undo::{HistoryInner, RestoreError, first_paths};

/// The result of an act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreResult {
    /// Receipt of the act.
    pub receipt: RestoreReceipt,
    /// The calls' entries whose state the act changed.
    pub changed_entries: Vec<UndoEntry>,
}

/// The outcome that an act would have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreCheck {
    /// Preview for a person; the differences and effects that cannot be undone are not known here.
    pub preview: RestorePreview,
    /// The conflicts with their texts, in the same order.
    pub conflicts: Vec<PathConflict>,
}

/// Identity of an act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreMeta {
    /// Id of the act.
    pub id: UndoId,
    /// The current time.
    pub at: At,
}

/// Returns the conflicts that an act would meet and the changes that it would make. Nothing is changed.
pub(in crate::undo) fn preview_restore(
    inner: &HistoryInner,
    restore: &RestoreRequest,
) -> Result<RestoreCheck, UserError> {
    let moves = RestoreSelection::from_request(inner, restore)?;
    let unlocked = UnlockedPaths::new(inner, &moves.open_workspace()?);
    let mut plan = plan_restore(&unlocked, &inner.store, &moves.moves, &[], 0)?;
    unlocked.relock()?;
    let mut conflicts = std::mem::take(&mut plan.conflicts);
    conflicts.truncate(CONFLICTS_MAX);
    let direction = moves.action.direction;
    let entries = moves
        .moves
        .iter()
        .map(|(one, _)| one.entry.clone())
        .collect();
    let manifest = build_manifest(moves, plan, UndoId::from(""), 0);
    let (paths, paths_total) = path_receipts(&manifest);
    let preview = RestorePreview {
        direction,
        entries,
        conflicts: conflicts
            .iter()
            .map(|path_conflict| path_conflict.conflict.clone())
            .collect(),
        paths,
        paths_total,
        coverage: coverage_of_manifest(&manifest),
    };
    Ok(RestoreCheck { preview, conflicts })
}

/// Executes an act, or touches nothing.
pub(in crate::undo) fn execute_restore(
    inner: &HistoryInner,
    restore: &RestoreRequest,
    choices: &[PathChoice],
    meta: RestoreMeta,
) -> Result<RestoreResult, RestoreError> {
    let broken = |error: FileError| RestoreError::Failed(error.into());
    let moves = RestoreSelection::from_request(inner, restore)?;
    let unlocked = UnlockedPaths::new(inner, &moves.open_workspace()?);
    let at_ns = meta.at.saturating_mul(1_000_000);
    let plan =
        plan_restore(&unlocked, &inner.store, &moves.moves, choices, at_ns).map_err(broken)?;
    if !plan.conflicts.is_empty() {
        let paths = plan
            .conflicts
            .into_iter()
            .map(|path_conflict| path_conflict.conflict.path);
        return Err(RestoreError::Conflict(paths.take(CONFLICTS_MAX).collect()));
    }
    let to_a_point = matches!(restore, RestoreRequest::UndoTo { .. });
    if plan.steps.is_empty() && (to_a_point || !plan.kept.is_empty()) {
        return Err(RestoreError::Failed(UserError::new(
            "There is nothing to undo: everything stays as it is.",
            "Choose another point, or to restore at least one path.",
        )));
    }
    back_up_overwritten(inner, &unlocked, &plan).map_err(broken)?;
    let before = inner.entries.list()?.entries;
    let mut manifest = build_manifest(moves, plan, meta.id, meta.at);
    inner.entries.save(&manifest).map_err(broken)?;
    let states = vec![PathState::AtOrigin; manifest.steps.len()];
    let run = DirectionRun {
        direction: UndoDirection::Redo,
        states: &states,
        is_resumed: false,
    };
    let gone = apply_direction(inner, &unlocked, &manifest, run);
    let gone = gone.and_then(|()| record_folder_times(&unlocked, &mut manifest));
    if let Err(error) = gone.and_then(|()| unlocked.relock()) {
        let back = roll_back(inner, &unlocked, &manifest);
        return Err(RestoreError::Failed(match back {
            Ok(()) => error.into(),
            Err(worse) => UserError::new(
                format!("{error} It could not be put back: {worse}"),
                "It will be finished when the app starts again.",
            ),
        }));
    }
    mark_done(inner, &mut manifest).map_err(broken)?;
    let mut turned = inner.entries.list()?.entries;
    turned.retain(|entry| entry.action.is_none() && !before.contains(entry));
    Ok(RestoreResult {
        receipt: build_receipt(&manifest),
        changed_entries: turned,
    })
}

/// Copies every content that is to be overwritten and is not in the store yet, and texts that are new.
fn back_up_overwritten(
    inner: &HistoryInner,
    unlocked: &UnlockedPaths,
    plan: &RestorePlan,
) -> Result<(), FileError> {
    let mut unknown = Vec::new();
    let mut bytes_new = 0;
    for step in &plan.steps {
        if let Node::File { blob, bytes, .. } = &step.before
            && !inner.store.contains(blob).at("the history")?
        {
            bytes_new += bytes;
            unknown.push(step);
        }
    }
    inner.check_space(bytes_new, || {
        let paths: Vec<String> = unknown
            .iter()
            .map(|step| display_path(&step.path.0))
            .collect();
        paths.join(", ")
    })?;
    let mut batch = inner.store.start_batch().at("the history")?;
    for step in unknown {
        let path = || display_path(&step.path.0);
        let now = node::capture_node(unlocked, &step.path.0, &mut batch)
            .map_err(|error| FileError::from_io(path(), &error))?;
        if now.as_ref() != Some(&step.before) {
            return Err(FileError::Changed { path: path() });
        }
    }
    for text in &plan.texts {
        batch.put_bytes(&text.bytes).at("the history")?;
    }
    batch.commit().at("the history")
}

fn build_manifest(moves: RestoreSelection, plan: RestorePlan, id: UndoId, at: At) -> UndoManifest {
    let entry = UndoEntry {
        session: moves.session,
        call: moves.call,
        action: Some(moves.action),
        at,
        workspace: display_path(&moves.root.0),
        title: moves.title,
        paths: plan.steps.len() as u64,
        bytes: plan
            .steps
            .iter()
            .map(|step| node::content_bytes(&step.before))
            .sum(),
        shown: first_paths(&plan.steps),
        state: UndoState::Prepared,
        id,
    };
    UndoManifest {
        root: moves.root,
        effect: TempTag::from_bytes(entry.id.as_str().as_bytes()),
        entry,
        steps: plan.steps,
        touched: plan.touched,
        known: true,
        going_back: false,
        deed: Some(RestoreActions {
            kept: plan.kept,
            merged: plan.merged,
        }),
    }
}

/// Builds the receipt of an act from its manifest.
pub(in crate::undo) fn build_receipt(manifest: &UndoManifest) -> RestoreReceipt {
    let (paths, paths_total) = path_receipts(manifest);
    RestoreReceipt {
        entry: manifest.entry.clone(),
        paths,
        paths_total,
    }
}

/// Returns the first paths of an act, and how many there are.
fn path_receipts(manifest: &UndoManifest) -> (Vec<PathReceipt>, u64) {
    let deed = manifest.deed.clone().unwrap_or_default();
    let steps = manifest.steps.iter().map(|step| {
        let change = match (&step.before, &step.after) {
            (_, _) if deed.merged.contains(&step.path) => PathChange::Merged,
            (Node::Absent, _) => PathChange::Created,
            (_, Node::Absent) => PathChange::Removed,
            (_, _) => PathChange::Restored,
        };
        let note = match (change, step.before_traits.names.or(step.after_traits.names)) {
            (PathChange::Created, Some(names)) => {
                format!("It had {names} names; it comes back as a file of its own.")
            }
            (_, Some(names)) => format!("It has {names} names; the others stay as they are."),
            (_, None) => String::new(),
        };
        (&step.path, change, note)
    });
    let kept = deed.kept.iter();
    let kept = kept.map(|(path, why)| (path, PathChange::Kept, why.clone()));
    let mut all: Vec<_> = steps.chain(kept).collect();
    all.sort_by(|one, other| one.0.cmp(other.0));
    let total = all.len() as u64;
    let listed = all.into_iter().take(RECEIPT_PATHS_MAX);
    let receipts = listed.map(|(path, change, note)| PathReceipt {
        path: display_path(&path.0),
        change,
        note,
    });
    (receipts.collect(), total)
}

fn coverage_of_manifest(manifest: &UndoManifest) -> RestoreCoverage {
    let comes = |node: &Node| *node != Node::Absent;
    let (comes, goes): (Vec<_>, Vec<_>) =
        manifest.steps.iter().partition(|step| comes(&step.after));
    RestoreCoverage {
        restores: comes.len() as u64,
        removes: goes.len() as u64,
        bytes: comes
            .iter()
            .map(|step| node::content_bytes(&step.after))
            .sum(),
        ..RestoreCoverage::default()
    }
}

/// One run over an entry's paths in one direction.
#[derive(Clone, Copy)]
pub(in crate::undo) struct DirectionRun<'a> {
    pub direction: UndoDirection,
    /// The state of each path before the run.
    pub states: &'a [PathState],
    /// Whether the run finishes an interrupted one.
    pub is_resumed: bool,
}

/// Finishes an interrupted run over an entry's paths, from the state that each of them is in now.
pub(in crate::undo) fn resume_direction(
    inner: &HistoryInner,
    unlocked: &UnlockedPaths,
    manifest: &UndoManifest,
    direction: UndoDirection,
) -> Result<(), FileError> {
    let fit = MatchLevel::InProgress;
    let run = DirectionRun {
        direction,
        states: &survey_paths(unlocked, &manifest.steps, direction, fit)?,
        is_resumed: true,
    };
    apply_direction(inner, unlocked, manifest, run)
}

/// Carries the paths of an entry to one side, with the times of their folders.
pub(in crate::undo) fn apply_direction(
    inner: &HistoryInner,
    unlocked: &UnlockedPaths,
    manifest: &UndoManifest,
    run: DirectionRun<'_>,
) -> Result<(), FileError> {
    let touched = manifest.touched.iter();
    let folders: Vec<(PathBuf, i64)> = touched
        .filter_map(|touched| {
            let ns = match run.direction {
                UndoDirection::Undo => Some(touched.before_ns),
                UndoDirection::Redo => touched.after_ns,
            };
            Some((touched.path.0.clone(), ns?))
        })
        .collect();
    let carry = StepApplier {
        unlocked,
        source: ContentSource::Store(&inner.store),
        steps: &manifest.steps,
        direction: run.direction,
        tag: manifest.temp_tag(),
        is_resumed: run.is_resumed,
    };
    carry.apply_all(run.states, &folders)
}

/// Removes staged files that are left.
pub(in crate::undo) fn remove_staged_files(
    unlocked: &UnlockedPaths,
    manifest: &UndoManifest,
) -> Result<(), FileError> {
    let paths = manifest.steps.iter().map(|step| step.path.0.as_path());
    let parents = paths.clone().filter_map(Path::parent);
    unlocked.unlock_paths(parents.map(|path| (path, AccessNeed::Change)))?;
    let tags = [manifest.temp_tag(), manifest.effect.clone()];
    sweep_temp_files(unlocked.dir(), paths, &tags).at("the workspace")
}

/// Rolls a failed act back to its beginning, and removes its entry.
fn roll_back(
    inner: &HistoryInner,
    unlocked: &UnlockedPaths,
    manifest: &UndoManifest,
) -> Result<(), FileError> {
    remove_staged_files(unlocked, manifest)?;
    resume_direction(inner, unlocked, manifest, UndoDirection::Undo)?;
    unlocked.relock()?;
    inner.entries.remove(&manifest.entry.id)
}

/// Finishes an act that was under way.
pub(in crate::undo) fn finish_restore(
    inner: &HistoryInner,
    unlocked: &UnlockedPaths,
    manifest: &mut UndoManifest,
) -> Result<(), FileError> {
    remove_staged_files(unlocked, manifest)?;
    resume_direction(inner, unlocked, manifest, UndoDirection::Redo)?;
    remove_staged_files(unlocked, manifest)?;
    record_folder_times(unlocked, manifest)?;
    unlocked.relock()?;
    mark_done(inner, manifest)
}

/// Records the present times of folders.
fn record_folder_times(
    unlocked: &UnlockedPaths,
    manifest: &mut UndoManifest,
) -> Result<(), FileError> {
    let paths = manifest.touched.iter().map(|touched| &*touched.path.0);
    unlocked.unlock_for_reading(paths)?;
    for touched in &mut manifest.touched {
        let stat = unlocked.stat(&touched.path.0).at(&touched.path.0)?;
        touched.after_ns = stat.map(|stat| stat.mtime_ns);
    }
    Ok(())
}

/// Records that an act is done.
fn mark_done(inner: &HistoryInner, manifest: &mut UndoManifest) -> Result<(), FileError> {
    manifest.entry.state = UndoState::Applied;
    inner.entries.save(manifest)
}
