//! After a crash or a failed effect: every entry is brought to one side, and nothing temporary stays.

use std::io;

use protocol::{Direction, Fault, SessionId, UndoId, UndoState};

use super::Inner;
use super::carry::{Stand, survey};
use super::manifest::Manifest;
use super::node::{self, Fit};
use super::restore::{finish, go, tidy};
use super::store::Store;
use crate::files::shown;
use crate::{FileError, Workspace};

/// Records the effect as it stands now.
pub(super) fn seal(
    manifest: &mut Manifest,
    workspace: &Workspace,
    store: &Store,
) -> Result<(), FileError> {
    let failed = |error: io::Error| FileError::from_io("the history", &error);
    let mut batch = store.batch().map_err(failed)?;
    for step in &mut manifest.steps {
        let named = |error: io::Error| FileError::from_io(shown(&step.path.0), &error);
        if let Some(node) = node::read(workspace.dir(), &step.path.0, &mut batch).map_err(named)? {
            step.after = node;
            step.after_traits = workspace.dir().traits_at(&step.path.0);
        }
    }
    batch.finish().map_err(failed)?;
    for touched in &mut manifest.touched {
        let stat = workspace.dir().stat_at(&touched.path.0).map_err(failed)?;
        touched.after_ns = stat.map(|stat| stat.mtime_ns);
    }
    manifest.entry.state = UndoState::Applied;
    Ok(())
}

/// Brings an entry of which it is not known whether it took effect to one side.
pub(super) fn settle(inner: &Inner, manifest: &mut Manifest) -> Result<(), Fault> {
    if manifest.entry.state != UndoState::Prepared {
        return Ok(());
    }
    let workspace = manifest.workspace()?;
    let fit = fit_of(manifest);
    let stands = survey(workspace.dir(), &manifest.steps, Direction::Undo, fit)?;
    // A step that changes nothing speaks for neither side.
    let told: Vec<Stand> = manifest
        .steps
        .iter()
        .zip(&stands)
        .filter(|(step, _)| !node::same(&step.before, &step.after, fit))
        .map(|(_, stand)| *stand)
        .collect();
    if !manifest.going_back && !told.contains(&Stand::There) {
        tidy(&workspace, manifest)?;
        if manifest.known {
            finish_forward(inner, &workspace, manifest)?;
        }
        seal(manifest, &workspace, &inner.store)?;
        inner.entries.save(manifest)?;
        return Ok(());
    }
    // Never begun: then its folders are as they were, or as somebody else made them since.
    let begun = manifest.going_back || told.contains(&Stand::Here);
    manifest.going_back = true;
    inner.entries.save(manifest)?;
    tidy(&workspace, manifest)?;
    go(inner, &workspace, manifest, Direction::Undo, &stands, begun)?;
    tidy(&workspace, manifest)?;
    manifest.entry.state = UndoState::Undone;
    manifest.going_back = false;
    inner.entries.save(manifest)?;
    Ok(())
}

/// Everything came, but folders get their modes and times last: they are given them, however often it takes.
fn finish_forward(
    inner: &Inner,
    workspace: &Workspace,
    manifest: &Manifest,
) -> Result<(), FileError> {
    let direction = Direction::Redo;
    let stands = survey(workspace.dir(), &manifest.steps, direction, Fit::Underway)?;
    go(inner, workspace, manifest, direction, &stands, true)?;
    tidy(workspace, manifest)
}

/// How closely a path must fit while it is not known whether the effect stands.
fn fit_of(manifest: &Manifest) -> Fit {
    match manifest.known {
        true => Fit::Underway,
        false => Fit::Loose,
    }
}

/// Brings everything to one side that nobody is at any more; returns the entries whose state that settled.
pub(super) fn recover(
    inner: &Inner,
    at_work: impl Fn(&SessionId) -> bool,
) -> Result<Vec<UndoId>, Fault> {
    let failed = |error: io::Error| -> Fault { FileError::from_io("the history", &error).into() };
    inner.entries.sweep().map_err(failed)?;
    inner.store.sweep().map_err(failed)?;
    let mut settled = Vec::new();
    let mut first_fault = None;
    for entry in inner.entries.list()?.entries {
        // An act has its turn from its beginning to its end: one that is not finished is nobody's.
        let is_somebodys = entry.act.is_none() && at_work(&entry.session);
        if entry.state != UndoState::Prepared || is_somebodys {
            continue;
        }
        let Some(mut manifest) = inner.entries.load(&entry.id)? else {
            continue;
        };
        if !manifest.root.0.is_dir() {
            tracing::warn!(id = %entry.id, root = %shown(&manifest.root.0), "the workspace is gone");
            continue;
        }
        let result = match entry.act {
            Some(_) => manifest.workspace().and_then(|workspace| {
                finish(inner, &workspace, &mut manifest).map_err(Fault::from)
            }),
            None => settle(inner, &mut manifest),
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
