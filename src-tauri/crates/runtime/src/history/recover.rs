//! After a crash or a failed effect: every entry is brought to one side, and nothing temporary stays.

use std::collections::BTreeSet;
use std::io;

use protocol::history::Node;
use protocol::{Fault, UndoId, UndoState};

use super::carry::{Stand, survey};
use super::manifest::{Journal, Manifest};
use super::node::{self, Fit};
use super::restore::{close, go, tidy};
use super::store::Store;
use super::{Direction, Inner};
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
    let stands = survey(
        workspace.dir(),
        &manifest.steps,
        Direction::Undo,
        fit_of(manifest),
    )?;
    // A step that changes nothing speaks for neither side.
    let told: Vec<Stand> = manifest
        .steps
        .iter()
        .zip(&stands)
        .filter(|(step, _)| !alike(&step.before, &step.after, manifest.known))
        .map(|(_, stand)| *stand)
        .collect();
    let stands_whole = !told.contains(&Stand::There);
    if stands_whole {
        tidy(&workspace, manifest)?;
        if manifest.known {
            finish_forward(inner, &workspace, manifest)?;
        }
        seal(manifest, &workspace, &inner.store)?;
        inner.entries.save(manifest)?;
        return Ok(());
    }
    let journal = Journal {
        direction: Direction::Undo,
        folders: manifest
            .touched
            .iter()
            .map(|touched| {
                let ns = touched.before_ns;
                (touched.path.clone(), ns, ns)
            })
            .collect(),
    };
    inner.entries.begin(&manifest.entry.id, &journal)?;
    tidy(&workspace, manifest)?;
    // Never begun: then its folders are as they were, or as somebody else made them since.
    let begun = told.contains(&Stand::Here);
    go(inner, &workspace, manifest, &journal, &stands, begun)?;
    tidy(&workspace, manifest)?;
    close(inner, manifest, Direction::Undo)?;
    Ok(())
}

/// Everything came, but folders get their modes and times last: they are given them, however often it takes.
fn finish_forward(
    inner: &Inner,
    workspace: &Workspace,
    manifest: &Manifest,
) -> Result<(), FileError> {
    let forward = Journal {
        direction: Direction::Redo,
        folders: Vec::new(),
    };
    let (steps, direction) = (&manifest.steps, forward.direction);
    let stands = survey(workspace.dir(), steps, direction, Fit::Underway)?;
    go(inner, workspace, manifest, &forward, &stands, true)?;
    tidy(workspace, manifest)
}

/// How closely a path must fit while it is not known whether the effect stands.
fn fit_of(manifest: &Manifest) -> Fit {
    match manifest.known {
        true => Fit::Underway,
        false => Fit::Loose,
    }
}

/// Whether a step changes nothing that could be told from what stands there. Modes count where they are known.
fn alike(one: &Node, other: &Node, known: bool) -> bool {
    match (one, other) {
        (
            Node::File { blob, mode, .. },
            Node::File {
                blob: same,
                mode: same_mode,
                ..
            },
        ) => blob == same && (!known || mode == same_mode),
        (Node::Folder { .. }, Node::Folder { .. }) | (Node::Absent, Node::Absent) => true,
        (Node::Link { target, .. }, Node::Link { target: same, .. }) => target == same,
        (
            Node::Absent | Node::File { .. } | Node::Folder { .. } | Node::Link { .. },
            Node::Absent | Node::File { .. } | Node::Folder { .. } | Node::Link { .. },
        ) => false,
    }
}

/// Finishes a restore that was under way.
fn finish(inner: &Inner, manifest: &mut Manifest, journal: &Journal) -> Result<(), Fault> {
    let workspace = manifest.workspace()?;
    tidy(&workspace, manifest)?;
    let fit = match manifest.entry.state {
        UndoState::Prepared => fit_of(manifest),
        UndoState::Applied | UndoState::Undone => Fit::Underway,
    };
    let stands = survey(workspace.dir(), &manifest.steps, journal.direction, fit)?;
    go(inner, &workspace, manifest, journal, &stands, true)?;
    tidy(&workspace, manifest)?;
    close(inner, manifest, journal.direction)?;
    Ok(())
}

pub(super) fn recover(inner: &Inner) -> Result<Vec<UndoId>, Fault> {
    let failed = |error: io::Error| -> Fault { FileError::from_io("the history", &error).into() };
    inner.entries.sweep().map_err(failed)?;
    inner.store.sweep().map_err(failed)?;
    let mut settled = Vec::new();
    let mut first_fault = None;
    for entry in inner.entries.list()?.entries {
        let id = entry.id;
        let journal = inner.entries.journal(&id)?;
        if journal.is_none() && entry.state != UndoState::Prepared {
            continue;
        }
        let Some(mut manifest) = inner.entries.load(&id)? else {
            continue;
        };
        if !manifest.root.0.is_dir() {
            tracing::warn!(%id, root = %shown(&manifest.root.0), "the workspace is gone");
            continue;
        }
        let result = match &journal {
            Some(journal) => finish(inner, &mut manifest, journal),
            None => settle(inner, &mut manifest),
        };
        match result {
            Ok(()) => settled.push(id),
            Err(fault) => {
                tracing::warn!(%id, %fault, "not finished");
                first_fault.get_or_insert(fault);
            }
        }
    }
    first_fault.map_or(Ok(settled), Err)
}

pub(super) fn collect(inner: &Inner, keep: &dyn Fn(&UndoId) -> bool) -> Result<u64, Fault> {
    let mut needed = BTreeSet::new();
    let list = inner.entries.list()?;
    for entry in list.entries {
        let id = &entry.id;
        if !keep(id) && inner.entries.journal(id)?.is_none() {
            inner.entries.forget(id)?;
            continue;
        }
        let manifest = inner.entries.load(id)?;
        for step in manifest.into_iter().flat_map(|manifest| manifest.steps) {
            for node in [step.before, step.after] {
                if let Node::File { blob, .. } = node {
                    needed.insert(blob);
                }
            }
        }
    }
    if list.unreadable > 0 {
        // What an entry needs that we cannot read is not known, so no copy goes.
        return Ok(0);
    }
    let freed = inner.store.keep_only(&needed);
    freed.map_err(|error| FileError::from_io("the history", &error).into())
}
