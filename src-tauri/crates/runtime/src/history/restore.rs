//! Takes an effect back, or brings it again: compared first, written down, carried out, or put back.

use std::path::PathBuf;

use protocol::{Fault, UndoState};

use super::carry::{Carry, Source, Stand, strangers, survey};
use super::manifest::{Journal, Manifest};
use super::node::Fit;
use super::{Direction, Inner, RestoreError};
use crate::files::shown;
use crate::limits::CONFLICTS_MAX;
use crate::temp::sweep;
use crate::{FileError, Workspace};

/// Where every path stands, and which of them a restore would overwrite.
pub(super) fn meet(
    workspace: &Workspace,
    manifest: &Manifest,
    direction: Direction,
) -> Result<(Vec<Stand>, Vec<String>), FileError> {
    let stands = survey(workspace.dir(), &manifest.steps, direction, Fit::Exact)?;
    let elsewhere = manifest
        .steps
        .iter()
        .zip(&stands)
        .filter(|(_, stand)| **stand == Stand::Elsewhere)
        .map(|(step, _)| shown(&step.path.0));
    let mut conflicts: Vec<String> = elsewhere.collect();
    conflicts.extend(strangers(workspace.dir(), &manifest.steps, direction)?);
    conflicts.truncate(CONFLICTS_MAX);
    Ok((stands, conflicts))
}

pub(super) fn restore(
    inner: &Inner,
    manifest: &mut Manifest,
    direction: Direction,
) -> Result<u64, RestoreError> {
    allowed(manifest, direction).map_err(RestoreError::Failed)?;
    let broken = |error: FileError| RestoreError::Failed(error.into());
    let workspace = manifest.workspace().map_err(RestoreError::Failed)?;
    let (stands, conflicts) = meet(&workspace, manifest, direction).map_err(broken)?;
    if !conflicts.is_empty() {
        return Err(RestoreError::Conflict(conflicts));
    }
    let id = manifest.entry.id.clone();
    let journal = Journal {
        direction,
        folders: times(&workspace, manifest, direction),
    };
    inner.entries.begin(&id, &journal).map_err(broken)?;
    if let Err(error) = go(inner, &workspace, manifest, &journal, &stands, false) {
        let back = take_back(inner, &workspace, manifest, &journal);
        return Err(RestoreError::Failed(match back {
            Ok(()) => error.into(),
            Err(worse) => Fault::new(
                format!("{error} It could not be put back: {worse}"),
                "It will be finished when the app starts again.",
            ),
        }));
    }
    close(inner, manifest, direction).map_err(broken)?;
    Ok(manifest.steps.len() as u64)
}

fn allowed(manifest: &Manifest, direction: Direction) -> Result<(), Fault> {
    let id = &manifest.entry.id;
    let refuse = |what: &str, hint: &str| Err(Fault::new(format!("`{id}` {what}."), hint));
    match (manifest.entry.state, direction) {
        (UndoState::Applied, Direction::Undo) | (UndoState::Undone, Direction::Redo) => Ok(()),
        (UndoState::Undone, Direction::Undo) => refuse("is undone already", "Redo brings it back."),
        (UndoState::Applied, Direction::Redo) => refuse("is not undone", "Undo it first."),
        (UndoState::Prepared, _) => refuse(
            "was never carried out, as far as is known",
            "Wait for the call to end, or start the app again.",
        ),
    }
}

/// Folders whose time is as the effect left it: nobody else made or removed names in them, so their time goes along.
fn times(
    workspace: &Workspace,
    manifest: &Manifest,
    direction: Direction,
) -> Vec<(super::Way, i64, i64)> {
    let mut times = Vec::new();
    for touched in &manifest.touched {
        let Some(after_ns) = touched.after_ns else {
            continue;
        };
        let (from, to) = match direction {
            Direction::Undo => (after_ns, touched.before_ns),
            Direction::Redo => (touched.before_ns, after_ns),
        };
        let now = workspace.dir().stat_at(&touched.path.0);
        if let Ok(Some(stat)) = now
            && stat.mtime_ns == from
        {
            times.push((touched.path.clone(), from, to));
        }
    }
    times
}

/// Carries out what a journal says.
pub(super) fn go(
    inner: &Inner,
    workspace: &Workspace,
    manifest: &Manifest,
    journal: &Journal,
    stands: &[Stand],
    again: bool,
) -> Result<(), FileError> {
    let folders: Vec<(PathBuf, i64)> = journal
        .folders
        .iter()
        .map(|(path, _, to)| (path.0.clone(), *to))
        .collect();
    let carry = Carry {
        workspace,
        source: Source::Store(&inner.store),
        steps: &manifest.steps,
        direction: journal.direction,
        tag: manifest.tag(),
        again,
    };
    carry.stage_and_go(stands, &folders)
}

/// Removes what staging left.
pub(super) fn tidy(workspace: &Workspace, manifest: &Manifest) -> Result<(), FileError> {
    let paths = manifest.steps.iter().map(|step| step.path.0.as_path());
    let tags = [manifest.tag(), manifest.effect.clone()];
    sweep(workspace.dir(), paths, &tags)
        .map_err(|error| FileError::from_io("the workspace", &error))
}

/// Goes back to where a failed restore began.
fn take_back(
    inner: &Inner,
    workspace: &Workspace,
    manifest: &Manifest,
    journal: &Journal,
) -> Result<(), FileError> {
    tidy(workspace, manifest)?;
    let back = Journal {
        direction: journal.direction.opposite(),
        folders: journal
            .folders
            .iter()
            .map(|(path, from, to)| (path.clone(), *to, *from))
            .collect(),
    };
    let stands = survey(
        workspace.dir(),
        &manifest.steps,
        back.direction,
        Fit::Underway,
    )?;
    go(inner, workspace, manifest, &back, &stands, true)?;
    inner.entries.done(&manifest.entry.id)
}

/// Records that an entry arrived.
pub(super) fn close(
    inner: &Inner,
    manifest: &mut Manifest,
    direction: Direction,
) -> Result<(), FileError> {
    manifest.entry.state = direction.state();
    inner.entries.save(manifest)?;
    inner.entries.done(&manifest.entry.id)
}
