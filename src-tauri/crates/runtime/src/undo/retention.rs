//! Retention of the history: by age and by size on disk, the newest first; copies that no entry needs are removed.

use protocol::history::CollectionReceipt;
use protocol::{At, UndoState, UserError};

use super::HistoryInner;
use super::store::RequiredFiles;
use crate::fs::at_path::AtPath as _;

/// Limits on the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionLimits {
    /// Entries from this time on are kept.
    pub since: At,
    /// As many of the newest entries are kept as have their copies in so many bytes on disk, each piece counted once.
    pub bytes_max: u64,
}

/// Drops entries beyond the limits. Entries under way are kept, and everything newer.
pub(super) fn collect_garbage(
    inner: &HistoryInner,
    keep: &RetentionLimits,
) -> Result<CollectionReceipt, UserError> {
    let size_before = disk_bytes(inner)?;
    let listed = inner.entries.list()?;
    let mut needed = RequiredFiles::default();
    let mut kept_count = 0;
    let mut full = false;
    let total = listed.entries.len();
    for entry in listed.entries.into_iter().rev() {
        let under_way = entry.state == UndoState::Prepared;
        full |= entry.at < keep.since;
        if full && !under_way {
            inner.entries.remove(&entry.id)?;
            continue;
        }
        let Some(manifest) = inner.entries.load(&entry.id)? else {
            continue;
        };
        let mut more = RequiredFiles::default();
        for (blob, _) in manifest.required_copies() {
            inner
                .store
                .collect_required(blob, &needed, &mut more)
                .at("the history")?;
        }
        full |= needed.bytes().saturating_add(more.bytes()) > keep.bytes_max;
        if full && !under_way {
            inner.entries.remove(&entry.id)?;
            continue;
        }
        kept_count += 1;
        needed.merge(more);
    }
    // The copies that an unreadable entry needs are not known, so no copy is removed.
    if listed.unreadable == 0 {
        inner.store.retain_only(&needed).at("the history")?;
    }
    let bytes_left = disk_bytes(inner)?;
    Ok(CollectionReceipt {
        entries: (total - kept_count) as u64,
        bytes_freed: size_before.saturating_sub(bytes_left),
        entries_left: kept_count as u64,
        bytes_left,
    })
}

/// Returns the space that the history takes on disk, in bytes.
pub(super) fn disk_bytes(inner: &HistoryInner) -> Result<u64, UserError> {
    let copies = inner.store.disk_bytes().at("the history")?;
    Ok(copies + inner.entries.total_bytes().at("the history")?)
}
