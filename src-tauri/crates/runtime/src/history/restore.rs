//! Carries out an act: worked out first, secured, written down, carried out, or put back.

use std::path::{Path, PathBuf};

use protocol::history::{
    Coverage, Node, PathChange, PathChoice, PathReceipt, Restore, RestorePreview, RestoreReceipt,
};
use protocol::{At, Direction, Fault, UndoEntry, UndoId, UndoState};

use super::carry::{Carry, Source};
use super::clash::Clash;
use super::manifest::{Deed, Manifest};
use super::moves::Moves;
use super::node::{self, Fit};
use super::survey::{Stand, survey};
use super::unlock::{Need, Unlocked};
use super::walk::{Walked, walk};
use super::{Inner, RestoreError, first_shown};
use crate::FileError;
use crate::files::shown;
use crate::limits::{CONFLICTS_MAX, RECEIPT_PATHS_MAX};
use crate::temp::{Tag, sweep};

/// An act that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// What it did.
    pub receipt: RestoreReceipt,
    /// The calls' entries that it brought to another state.
    pub turned: Vec<UndoEntry>,
}

/// What an act would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    /// As a person is told of it; the differences and what cannot be taken back are not known here.
    pub preview: RestorePreview,
    /// The conflicts with their texts, in the same order.
    pub clashes: Vec<Clash>,
}

/// What an act is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActMeta {
    /// Its name.
    pub id: UndoId,
    /// Now.
    pub at: At,
}

/// What an act would meet and do. Nothing is changed.
pub(super) fn look(inner: &Inner, restore: &Restore) -> Result<Looked, Fault> {
    let moves = Moves::of(inner, restore)?;
    let unlocked = Unlocked::new(inner, &moves.workspace()?);
    let mut walked = walk(&unlocked, &inner.store, &moves.of, &[], 0)?;
    unlocked.lock()?;
    let mut clashes = std::mem::take(&mut walked.clashes);
    clashes.truncate(CONFLICTS_MAX);
    let direction = moves.act.direction;
    let entries = moves.of.iter().map(|(one, _)| one.entry.clone()).collect();
    let manifest = manifest(moves, walked, UndoId::from(""), 0);
    let (paths, paths_total) = paths(&manifest);
    let preview = RestorePreview {
        direction,
        entries,
        conflicts: clashes.iter().map(|clash| clash.conflict.clone()).collect(),
        paths,
        paths_total,
        coverage: coverage(&manifest),
    };
    Ok(Looked { preview, clashes })
}

/// Does it, or touches nothing.
pub(super) fn act(
    inner: &Inner,
    restore: &Restore,
    choices: &[PathChoice],
    meta: ActMeta,
) -> Result<Restored, RestoreError> {
    let broken = |error: FileError| RestoreError::Failed(error.into());
    let moves = Moves::of(inner, restore)?;
    let unlocked = Unlocked::new(inner, &moves.workspace()?);
    let at_ns = meta.at.saturating_mul(1_000_000);
    let walked = walk(&unlocked, &inner.store, &moves.of, choices, at_ns).map_err(broken)?;
    if !walked.clashes.is_empty() {
        let paths = walked.clashes.into_iter().map(|clash| clash.conflict.path);
        return Err(RestoreError::Conflict(paths.take(CONFLICTS_MAX).collect()));
    }
    let to_a_point = matches!(restore, Restore::UndoTo { .. });
    if walked.steps.is_empty() && (to_a_point || !walked.kept.is_empty()) {
        return Err(RestoreError::Failed(Fault::new(
            "There is nothing to take back: everything stays as it is.",
            "Choose another point, or to restore at least one path.",
        )));
    }
    secure(inner, &unlocked, &walked).map_err(broken)?;
    let before = inner.entries.list()?.entries;
    let mut manifest = manifest(moves, walked, meta.id, meta.at);
    inner.entries.save(&manifest).map_err(broken)?;
    let stands = vec![Stand::Here; manifest.steps.len()];
    let gone = go(inner, &unlocked, &manifest, Direction::Redo, &stands, false);
    let gone = gone.and_then(|()| note_times(&unlocked, &mut manifest));
    if let Err(error) = gone.and_then(|()| unlocked.lock()) {
        let back = take_back(inner, &unlocked, &manifest);
        return Err(RestoreError::Failed(match back {
            Ok(()) => error.into(),
            Err(worse) => Fault::new(
                format!("{error} It could not be put back: {worse}"),
                "It will be finished when the app starts again.",
            ),
        }));
    }
    close(inner, &mut manifest).map_err(broken)?;
    let mut turned = inner.entries.list()?.entries;
    turned.retain(|entry| entry.act.is_none() && !before.contains(entry));
    Ok(Restored {
        receipt: receipt(&manifest),
        turned,
    })
}

/// Takes a copy of everything that is to be overwritten and is not in the store yet, and of texts that are new.
fn secure(inner: &Inner, unlocked: &Unlocked, walked: &Walked) -> Result<(), FileError> {
    let failed = |error: std::io::Error| FileError::from_io("the history", &error);
    let mut unknown = Vec::new();
    let mut bytes_new = 0;
    for step in &walked.steps {
        if let Node::File { blob, bytes, .. } = &step.before
            && !inner.store.has(blob).map_err(failed)?
        {
            bytes_new += bytes;
            unknown.push(step);
        }
    }
    inner.room(bytes_new, || {
        let paths: Vec<String> = unknown.iter().map(|step| shown(&step.path.0)).collect();
        paths.join(", ")
    })?;
    let mut batch = inner.store.batch().map_err(failed)?;
    for step in unknown {
        let path = || shown(&step.path.0);
        let now = node::read(unlocked, &step.path.0, &mut batch)
            .map_err(|error| FileError::from_io(path(), &error))?;
        if now.as_ref() != Some(&step.before) {
            return Err(FileError::Changed { path: path() });
        }
    }
    for text in &walked.texts {
        batch.put(&text.bytes).map_err(failed)?;
    }
    batch.finish().map_err(failed)
}

fn manifest(moves: Moves, walked: Walked, id: UndoId, at: At) -> Manifest {
    let entry = UndoEntry {
        session: moves.session,
        call: moves.call,
        act: Some(moves.act),
        at,
        workspace: shown(&moves.root.0),
        title: moves.title,
        paths: walked.steps.len() as u64,
        bytes: walked
            .steps
            .iter()
            .map(|step| node::bytes(&step.before))
            .sum(),
        shown: first_shown(&walked.steps),
        state: UndoState::Prepared,
        id,
    };
    Manifest {
        root: moves.root,
        effect: Tag::of(entry.id.as_str().as_bytes()),
        entry,
        steps: walked.steps,
        touched: walked.touched,
        known: true,
        going_back: false,
        deed: Some(Deed {
            kept: walked.kept,
            merged: walked.merged,
        }),
    }
}

/// What an act did, as its manifest has it.
pub(super) fn receipt(manifest: &Manifest) -> RestoreReceipt {
    let (paths, paths_total) = paths(manifest);
    RestoreReceipt {
        entry: manifest.entry.clone(),
        paths,
        paths_total,
    }
}

/// The first paths of an act, and how many there are.
fn paths(manifest: &Manifest) -> (Vec<PathReceipt>, u64) {
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
        path: shown(&path.0),
        change,
        note,
    });
    (receipts.collect(), total)
}

fn coverage(manifest: &Manifest) -> Coverage {
    let comes = |node: &Node| *node != Node::Absent;
    let (comes, goes): (Vec<_>, Vec<_>) =
        manifest.steps.iter().partition(|step| comes(&step.after));
    Coverage {
        restores: comes.len() as u64,
        removes: goes.len() as u64,
        bytes: comes.iter().map(|step| node::bytes(&step.after)).sum(),
        ..Coverage::default()
    }
}

/// Carries the paths of an entry to one side, with the times of the folders that they are in.
pub(super) fn go(
    inner: &Inner,
    unlocked: &Unlocked,
    manifest: &Manifest,
    direction: Direction,
    stands: &[Stand],
    again: bool,
) -> Result<(), FileError> {
    let touched = manifest.touched.iter();
    let folders: Vec<(PathBuf, i64)> = touched
        .filter_map(|touched| {
            let ns = match direction {
                Direction::Undo => Some(touched.before_ns),
                Direction::Redo => touched.after_ns,
            };
            Some((touched.path.0.clone(), ns?))
        })
        .collect();
    let carry = Carry {
        unlocked,
        source: Source::Store(&inner.store),
        steps: &manifest.steps,
        direction,
        tag: manifest.tag(),
        again,
    };
    carry.stage_and_go(stands, &folders)
}

/// Removes what staging left.
pub(super) fn tidy(unlocked: &Unlocked, manifest: &Manifest) -> Result<(), FileError> {
    let paths = manifest.steps.iter().map(|step| step.path.0.as_path());
    let parents = paths.clone().filter_map(Path::parent);
    unlocked.unlock(parents.map(|path| (path, Need::Change)))?;
    let tags = [manifest.tag(), manifest.effect.clone()];
    sweep(unlocked.dir(), paths, &tags).map_err(|error| FileError::from_io("the workspace", &error))
}

/// Goes back to where a failed act began, and forgets it.
fn take_back(inner: &Inner, unlocked: &Unlocked, manifest: &Manifest) -> Result<(), FileError> {
    tidy(unlocked, manifest)?;
    let stands = survey(unlocked, &manifest.steps, Direction::Undo, Fit::Underway)?;
    go(inner, unlocked, manifest, Direction::Undo, &stands, true)?;
    unlocked.lock()?;
    inner.entries.forget(&manifest.entry.id)
}

/// Finishes an act that was under way.
pub(super) fn finish(
    inner: &Inner,
    unlocked: &Unlocked,
    manifest: &mut Manifest,
) -> Result<(), FileError> {
    tidy(unlocked, manifest)?;
    let stands = survey(unlocked, &manifest.steps, Direction::Redo, Fit::Underway)?;
    go(inner, unlocked, manifest, Direction::Redo, &stands, true)?;
    tidy(unlocked, manifest)?;
    note_times(unlocked, manifest)?;
    unlocked.lock()?;
    close(inner, manifest)
}

/// Takes down the times that folders have now.
fn note_times(unlocked: &Unlocked, manifest: &mut Manifest) -> Result<(), FileError> {
    let paths = manifest.touched.iter().map(|touched| &*touched.path.0);
    unlocked.unlock(paths.map(|path| (path, Need::Read)))?;
    for touched in &mut manifest.touched {
        let stat = unlocked.stat(&touched.path.0);
        let stat = stat.map_err(|error| FileError::from_io(shown(&touched.path.0), &error))?;
        touched.after_ns = stat.map(|stat| stat.mtime_ns);
    }
    Ok(())
}

/// Records that an act is done.
fn close(inner: &Inner, manifest: &mut Manifest) -> Result<(), FileError> {
    manifest.entry.state = UndoState::Applied;
    inner.entries.save(manifest)
}
