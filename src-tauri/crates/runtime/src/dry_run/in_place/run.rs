//! Commands that run for real, in the workspace itself, over a snapshot taken before: taking the snapshot, and
//! recording the changes of the command so that they can be undone. The same on every system.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::dry_run::RecoveredRuns;
use crate::dry_run::effects::attributes;
use crate::dry_run::effects::report::{ChangeStage, build_report};
use crate::dry_run::effects::summary::{FinishedRun, summarize_run};
use crate::dry_run::in_place::snapshot::Snapshot;
use crate::dry_run::overlay::change::{ChangedPath, PathContent};
use crate::dry_run::overlay::diff::{UpperSource, UpperTree, diff_upper};
use crate::dry_run::overlay::workspace_copy::{CopyMethod, measure_workspace};
use crate::dry_run::refusals::Refusals;
use crate::fs::at_path::AtPath as _;
use crate::fs::dir::Dir;
use crate::undo::ObservedChanges;
use crate::{FileError, History, UndoEntryMeta, Workspace};
use protocol::view::effects::{Assurance, Effects};
use protocol::{CommandExit, CommandRun, Plan, UndoEntry};

/// Note for a person, on every such run that changed something.
const ATTRIBUTION_NOTE: &str = "What else changed in the folder while it ran is reported as its change: whose it was cannot be told apart.";

/// The result of a command that ran for real. Dropping it removes the snapshot.
#[derive(Debug)]
pub struct InPlaceResult {
    /// The undo entry of the changes, on disk; `None` if nothing changed that can be undone.
    pub entry: Option<UndoEntry>,
    /// Effects of the command, for a person.
    pub effects: Effects,
    /// Plan of the changes, path by path; they are in the workspace already.
    pub plan: Plan,
    /// The workspace as it was before.
    pub before: Workspace,
    _gone: SnapshotRemover,
}

/// Removes a snapshot that is no longer needed when dropped.
#[derive(Debug)]
struct SnapshotRemover(Arc<Snapshot>);

impl Drop for SnapshotRemover {
    fn drop(&mut self) {
        self.0.folder.remove();
    }
}

/// Takes a snapshot of a workspace that is not too large for one.
pub(in crate::dry_run) async fn take_snapshot(
    workspace: &Workspace,
    history: &History,
    meta: UndoEntryMeta,
    copier: CopyMethod,
) -> Result<Snapshot, FileError> {
    let (workspace, history) = (workspace.clone(), history.clone());
    run_blocking(move || {
        measure_workspace(workspace.dir())?;
        Snapshot::take(&history, &workspace, meta, copier)
    })
    .await
}

/// Whether a workspace is small enough for a snapshot.
pub(in crate::dry_run) async fn can_snapshot(workspace: &Workspace) -> bool {
    let workspace = workspace.clone();
    run_blocking(move || measure_workspace(workspace.dir()))
        .await
        .is_ok()
}

/// Takes a snapshot for a call that is carried out by a companion program. The run counts as finished without error.
pub(in crate::dry_run) async fn take_companion_snapshot(
    workspace: &Workspace,
    history: &History,
    meta: UndoEntryMeta,
) -> Result<Snapshot, FileError> {
    let picture = take_snapshot(workspace, history, meta, CopyMethod::System).await?;
    let ran = (
        CommandRun::without_output(CommandExit::Code(0)),
        Refusals::default(),
    );
    let _ = picture.outcome.set(ran);
    Ok(picture)
}

/// Compares the workspace with its snapshot, and records the differences as one undo entry.
///
/// # Errors
/// The error that prevented the recording. The snapshot stays then, and is recorded at the next start.
pub(in crate::dry_run) fn record_changes(
    picture: Arc<Snapshot>,
) -> Result<InPlaceResult, FileError> {
    let tree = picture.folder.tree_path();
    let before = Dir::open(&tree).at("the snapshot of the workspace")?;
    let (ran, refused) = picture.outcome.get().cloned().unwrap_or_else(|| {
        (
            CommandRun::without_output(CommandExit::Cancelled),
            Default::default(),
        )
    });
    let (workspace, copied) = (&picture.workspace, &picture.copied);
    let meta = picture.meta.clone();
    let recorded = picture
        .history
        .record_observed(workspace, &before, meta, |content, unlock| {
            // Nobody but us can reach the picture.
            let never = i64::MAX;
            let real = UpperTree {
                source: UpperSource::InPlace(copied),
                dir: workspace.dir(),
            };
            let diff = diff_upper(real, &before, never, content, Some(unlock))?;
            let around_special = folders_with_special_files(&diff.changes);
            let attributes = attributes::attributes_note(&diff.attributes, ChangeStage::InPlace);
            let mut read = build_report(diff.changes, ChangeStage::InPlace);
            read.notes.extend(attributes);
            let steps = read.steps.iter().map(|step| {
                let made = around_special.contains(&step.path);
                let (before, after) = (step.before.clone(), step.after.clone());
                (step.path.clone(), before, after, made)
            });
            let steps: Vec<_> = steps.collect();
            let above: BTreeSet<&Path> = steps.iter().filter_map(|one| one.0.parent()).collect();
            // Undoing the change of a path changes the time of the folder that the path lies in.
            let mut folders = diff.folders;
            folders.retain(|(path, was, is)| was != is || above.contains(path.as_path()));
            Ok((ObservedChanges { steps, folders }, read))
        });
    let (entry, mut read) = recorded?;
    if entry.is_some() {
        read.notes.push(ATTRIBUTION_NOTE.to_owned());
    }
    let (effects, plan) = summarize_run(FinishedRun {
        assurance: Assurance::Snapshot,
        ran,
        refused,
        read,
        notes: Vec::new(),
        after_folder: picture.workspace.root().to_owned(),
    });
    Ok(InPlaceResult {
        entry,
        effects,
        plan,
        before: Workspace::open(&tree)
            .map_err(|fault| FileError::from_display("the snapshot", fault))?,
        _gone: SnapshotRemover(picture),
    })
}

/// Folders that now hold a pipe, a socket or a device, and therefore cannot be removed with it.
fn folders_with_special_files(changes: &[ChangedPath]) -> BTreeSet<PathBuf> {
    let special = changes
        .iter()
        .filter(|change| matches!(change.after, PathContent::Special(_)));
    let above = special.flat_map(|change| change.path.ancestors().skip(1));
    above.map(Path::to_owned).collect()
}

/// Records the changes of commands that a crash interrupted, from their snapshots. A snapshot that cannot be recorded
/// is kept.
pub(in crate::dry_run) fn recover_runs(history: &History) -> RecoveredRuns {
    let mut up = RecoveredRuns::default();
    let left = Snapshot::list_left_behind(history).unwrap_or_else(|error| {
        up.failed.push(error);
        Vec::new()
    });
    for picture in left {
        match record_recovered(picture) {
            Ok(act) => up.entries.extend(act),
            Err(error) => up.failed.push(error),
        }
    }
    up
}

/// Returns the undo entry of a snapshot that a crash left, recording it now unless it was recorded before.
fn record_recovered(picture: Snapshot) -> Result<Option<UndoEntry>, FileError> {
    let known = picture.history.entry(&picture.meta.id);
    match known.map_err(|fault| FileError::from_display("the history", fault))? {
        Some(act) => {
            picture.folder.remove();
            Ok(Some(act))
        }
        None => Ok(record_changes(Arc::new(picture))?.entry.clone()),
    }
}

/// Runs work that reads many files on a thread for blocking work, off the async threads.
pub(in crate::dry_run) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, FileError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(FileError::from_display("the workspace", error)),
    }
}
