//! After a crash or a failed effect: every entry is brought to one side, and nothing temporary stays.

use std::io;

use protocol::{Direction, Fault, SessionId, UndoId, UndoState};

use super::Inner;
use super::manifest::Manifest;
use super::node::{self, Fit};
use super::restore::{finish, go, tidy};
use super::store::Store;
use super::survey::{Stand, survey};
use super::unlock::{Need, Unlocked};
use crate::FileError;
use crate::files::shown;

/// Records that the effect stands. What is known to the byte is not read again; of the rest, what cannot be read is taken to
/// be as it was planned.
pub(super) fn seal(
    manifest: &mut Manifest,
    unlocked: &Unlocked,
    store: &Store,
) -> Result<(), FileError> {
    if !manifest.known {
        seen_again(manifest, unlocked, store)?;
    }
    let touched = manifest.touched.iter().map(|touched| &*touched.path.0);
    unlocked.unlock(touched.map(|path| (path, Need::Read)))?;
    for touched in &mut manifest.touched {
        // Without it the folder keeps the time that it gets when names in it come back.
        let stat = unlocked.stat(&touched.path.0).ok().flatten();
        touched.after_ns = stat.map(|stat| stat.mtime_ns);
    }
    unlocked.lock()?;
    manifest.entry.state = UndoState::Applied;
    Ok(())
}

/// Every path as the effect left it.
fn seen_again(
    manifest: &mut Manifest,
    unlocked: &Unlocked,
    store: &Store,
) -> Result<(), FileError> {
    let failed = |error: io::Error| FileError::from_io("the history", &error);
    let paths = manifest.steps.iter().map(|step| step.path.0.as_path());
    unlocked.unlock(paths.map(|path| (path, Need::Read)))?;
    let mut batch = store.batch().map_err(failed)?;
    for step in &mut manifest.steps {
        match node::read(unlocked, &step.path.0, &mut batch) {
            Ok(Some(node)) => {
                step.after = node;
                step.after_traits = unlocked.dir().traits_at(&step.path.0);
            }
            Ok(None) => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                tracing::debug!(path = %shown(&step.path.0), %error, "taken to be as planned");
            }
            Err(error) => return Err(FileError::from_io(shown(&step.path.0), &error)),
        }
    }
    batch.finish().map_err(failed)
}

/// Brings an entry of which it is not known whether it took effect to one side.
pub(super) fn settle(inner: &Inner, manifest: &mut Manifest) -> Result<(), Fault> {
    if manifest.entry.state != UndoState::Prepared {
        return Ok(());
    }
    let workspace = manifest.workspace()?;
    let unlocked = Unlocked::new(inner, &workspace);
    let fit = fit_of(manifest);
    let stands = survey(&unlocked, &manifest.steps, Direction::Undo, fit)?;
    // A step that changes nothing speaks for neither side.
    let told: Vec<Stand> = manifest
        .steps
        .iter()
        .zip(&stands)
        .filter(|(step, _)| !node::same(&step.before, &step.after, fit))
        .map(|(_, stand)| *stand)
        .collect();
    if !manifest.going_back && !told.contains(&Stand::There) {
        tidy(&unlocked, manifest)?;
        if manifest.known {
            finish_forward(inner, &unlocked, manifest)?;
        }
        seal(manifest, &unlocked, &inner.store)?;
        inner.entries.save(manifest)?;
        return Ok(());
    }
    // Never begun: then its folders are as they were, or as somebody else made them since.
    let begun = manifest.going_back || told.contains(&Stand::Here);
    manifest.going_back = true;
    inner.entries.save(manifest)?;
    tidy(&unlocked, manifest)?;
    go(inner, &unlocked, manifest, Direction::Undo, &stands, begun)?;
    tidy(&unlocked, manifest)?;
    unlocked.lock()?;
    manifest.entry.state = UndoState::Undone;
    manifest.going_back = false;
    inner.entries.save(manifest)?;
    Ok(())
}

/// Everything came, but folders get their modes and times last: they are given them, however often it takes.
fn finish_forward(
    inner: &Inner,
    unlocked: &Unlocked,
    manifest: &Manifest,
) -> Result<(), FileError> {
    let direction = Direction::Redo;
    let stands = survey(unlocked, &manifest.steps, direction, Fit::Underway)?;
    go(inner, unlocked, manifest, direction, &stands, true)?;
    tidy(unlocked, manifest)
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
                let unlocked = Unlocked::new(inner, &workspace);
                finish(inner, &unlocked, &mut manifest).map_err(Fault::from)
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
