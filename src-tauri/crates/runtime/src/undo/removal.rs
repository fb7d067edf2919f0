//! Removal of the entries of sessions from the history, with the copies that no other entry needs.

use std::collections::BTreeSet;

use protocol::{SessionId, UndoId, UndoState, UserError};

use super::HistoryInner;
use super::retention::disk_bytes;
use super::store::RequiredFiles;
use crate::fs::at_path::AtPath as _;

/// What a removal would take away, or took away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RemovedEntries {
    /// Number of entries.
    pub entries: u64,
    /// Bytes on disk of the copies that no other entry needs.
    pub bytes: u64,
}

/// Tells what a removal of the entries of sessions would take away.
pub(super) fn preview_removal(
    inner: &HistoryInner,
    sessions: &BTreeSet<SessionId>,
) -> Result<RemovedEntries, UserError> {
    let split = split_entries(inner, sessions)?;
    let mut own = RequiredFiles::default();
    for entry in &split.removed {
        collect_copies(inner, entry, &split.needed, &mut own)?;
    }
    Ok(RemovedEntries {
        entries: split.removed.len() as u64,
        bytes: own.bytes(),
    })
}

/// Removes the entries of sessions. If this is interrupted, what is left is removed by the next removal or collection.
pub(super) fn remove_entries(
    inner: &HistoryInner,
    sessions: &BTreeSet<SessionId>,
) -> Result<RemovedEntries, UserError> {
    let size_before = disk_bytes(inner)?;
    let split = split_entries(inner, sessions)?;
    for id in &split.removed {
        inner.entries.remove(id)?;
    }
    // The copies that an unreadable entry needs are not known, so no copy is removed.
    if !split.removed.is_empty() && split.unreadable == 0 {
        inner.store.retain_only(&split.needed).at("the history")?;
    }
    Ok(RemovedEntries {
        entries: split.removed.len() as u64,
        bytes: size_before.saturating_sub(disk_bytes(inner)?),
    })
}

/// The entries of a history: those to be removed, and what the others need.
struct SplitEntries {
    removed: Vec<UndoId>,
    /// Files that the other entries need.
    needed: RequiredFiles,
    unreadable: usize,
}

/// Tells the entries of sessions from the others.
///
/// # Errors
/// One of them is under way: whether its effect stands is not settled.
fn split_entries(
    inner: &HistoryInner,
    sessions: &BTreeSet<SessionId>,
) -> Result<SplitEntries, UserError> {
    let listed = inner.entries.list()?;
    let mut split = SplitEntries {
        removed: Vec::new(),
        needed: RequiredFiles::default(),
        unreadable: listed.unreadable,
    };
    for entry in listed.entries {
        if !sessions.contains(&entry.session) {
            let mut more = RequiredFiles::default();
            collect_copies(inner, &entry.id, &split.needed, &mut more)?;
            split.needed.merge(more);
        } else if entry.state == UndoState::Prepared {
            return Err(UserError::new(
                format!("The change “{}” is not finished.", entry.title),
                "Open the app again: it finishes what was begun.",
            ));
        } else {
            split.removed.push(entry.id);
        }
    }
    Ok(split)
}

/// Adds to `more` the files that an entry needs and `known` does not have yet.
fn collect_copies(
    inner: &HistoryInner,
    id: &UndoId,
    known: &RequiredFiles,
    more: &mut RequiredFiles,
) -> Result<(), UserError> {
    let Some(manifest) = inner.entries.load(id)? else {
        return Ok(());
    };
    for (blob, _) in manifest.required_copies() {
        inner
            .store
            .collect_required(blob, known, more)
            .at("the history")?;
    }
    Ok(())
}
