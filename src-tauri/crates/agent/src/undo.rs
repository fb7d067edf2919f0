//! Takes effects back, or brings them again: restored on disk first, then told, each call in its own session.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use protocol::history::{PathChoice, Restore, RestorePreview, RestoreReceipt, Timeline, UndoCheck};
use protocol::op::Receipt;
use protocol::{EventBody, Fault, UndoEntry, UndoId, UndoState};
use runtime::history::Clash;
use runtime::{ActMeta, History, RestoreError, Workspace};

use crate::coverage;
use crate::desk::Shared;
use crate::recover::is_at_work;

/// One act of the person. Where something changed since and no choice is made for it, nothing is touched and the fault
/// names it.
pub(crate) async fn restore(
    shared: &Arc<Shared>,
    restore: Restore,
    choices: Vec<PathChoice>,
) -> Result<Receipt, Fault> {
    let config = &shared.config;
    let meta = ActMeta {
        id: UndoId(config.ids.next("und")),
        at: config.clock.now(),
    };
    let data_dir = config.data_dir.clone();
    let done = on_history(shared, move |history| {
        entries(history, &data_dir)?;
        history.restore(&restore, &choices, meta).map_err(explain)
    });
    let done = done.await?;
    for entry in done.turned {
        tell(shared, entry, Some(done.receipt.entry.id.clone())).await?;
    }
    Ok(Receipt {
        restored: Some(Box::new(done.receipt)),
        ..Receipt::default()
    })
}

/// One entry taken back.
pub(crate) fn one(entry: UndoId) -> Restore {
    Restore::Undo {
        entries: vec![entry],
    }
}

/// What an act would meet and do, with differences and with what it cannot take back.
pub(crate) async fn preview(
    shared: &Arc<Shared>,
    restore: Restore,
) -> Result<RestorePreview, Fault> {
    let data_dir = shared.config.data_dir.clone();
    let looked = on_history(shared, move |history| {
        entries(history, &data_dir)?;
        history.look(&restore)
    });
    let looked = looked.await?;
    let mut preview = looked.preview;
    for (conflict, clash) in preview.conflicts.iter_mut().zip(&looked.clashes) {
        let Clash { texts, merged, .. } = clash;
        let Some((now, wanted)) = texts else { continue };
        let difference = |after: &[u8]| {
            tools::diff::file_diff(
                &conflict.path,
                Some(now),
                after,
                0,
                tools::diff::CONTEXT_LINES,
            )
        };
        conflict.restored = Some(difference(wanted));
        conflict.merged = merged.as_deref().map(difference);
    }
    coverage::complete(shared, &mut preview)?;
    Ok(preview)
}

/// The paths that an undo or redo of one entry would meet changed.
pub(crate) async fn check(shared: &Arc<Shared>, id: UndoId) -> Result<UndoCheck, Fault> {
    let looked = on_history(shared, move |history| {
        let entry = history.entry(&id)?;
        let restore = match entry.map(|entry| entry.state) {
            Some(UndoState::Undone) => Restore::Redo { entry: id.clone() },
            Some(UndoState::Prepared | UndoState::Applied) | None => one(id.clone()),
        };
        history.look(&restore).map(|looked| (id, looked))
    });
    let (id, looked) = looked.await?;
    let conflicts = looked.preview.conflicts.into_iter();
    Ok(UndoCheck {
        id,
        conflicts: conflicts.map(|conflict| conflict.path).collect(),
    })
}

/// What an act did.
pub(crate) async fn receipt(shared: &Arc<Shared>, id: UndoId) -> Result<RestoreReceipt, Fault> {
    on_history(shared, move |history| history.receipt(&id)).await
}

/// The history of a workspace, or of all, the newest first.
pub(crate) async fn timeline(
    shared: &Arc<Shared>,
    workspace: Option<String>,
    offset: u32,
    limit: u32,
) -> Result<Timeline, Fault> {
    let settings = shared.settings();
    let data_dir = shared.config.data_dir.clone();
    on_history(shared, move |history| {
        let root = workspace.map(|path| match Workspace::open(Path::new(&path)) {
            Ok(workspace) => workspace.root().display().to_string(),
            // A folder that is gone still has its history.
            Err(_) => path,
        });
        let mut entries = entries(history, &data_dir)?;
        entries.retain(|entry| root.as_ref().is_none_or(|root| entry.workspace == *root));
        entries.reverse();
        let total = entries.len();
        let (offset, limit) = (offset as usize, limit as usize);
        let entries: Vec<UndoEntry> = entries.into_iter().skip(offset).take(limit).collect();
        let warning = root.and_then(|root| coverage::home_warning(Path::new(&root)));
        Ok(Timeline {
            more: offset + entries.len() < total,
            entries,
            entries_total: total as u64,
            store_bytes: history.size()?,
            store_bytes_max: settings.undo_bytes_max,
            keep_days: settings.undo_keep_days,
            warnings: warning.into_iter().collect(),
        })
    })
    .await
}

/// Every entry as it stands. What nobody is at any more and was left under way, by a crash or because an earlier version could
/// not settle it, is brought to one side first.
fn entries(history: &History, data_dir: &Path) -> Result<Vec<UndoEntry>, Fault> {
    let entries = history.entries()?;
    let is_left = |entry: &UndoEntry| {
        entry.state == UndoState::Prepared && !is_at_work(data_dir, &entry.session)
    };
    if !entries.iter().any(is_left) {
        return Ok(entries);
    }
    if let Err(fault) = history.recover(|session| is_at_work(data_dir, session)) {
        // What is asked for may be none of its business.
        tracing::warn!(%fault, "not every entry is settled");
    }
    history.entries()
}

/// Tells the record what the history has and it has not: an act that was done when the app ended before it was told.
pub(crate) async fn reconcile(shared: &Arc<Shared>) -> Result<(), Fault> {
    let stand = on_history(shared, |history| history.entries()).await?;
    let stand: BTreeMap<UndoId, UndoEntry> = stand
        .into_iter()
        .map(|entry| (entry.id.clone(), entry))
        .collect();
    let mut offset = 0;
    loop {
        let (page, more) = shared.record.undo_entries(offset, PAGE)?;
        offset += u32::try_from(page.len()).unwrap_or(PAGE);
        for told in page {
            let Some(now) = stand.get(&told.id) else {
                continue;
            };
            if matches!(
                (told.state, now.state),
                (UndoState::Applied, UndoState::Undone) | (UndoState::Undone, UndoState::Applied)
            ) && let Err(fault) = tell(shared, now.clone(), None).await
            {
                // A workspace that is gone, for one, must not keep the others from being told.
                tracing::warn!(%fault, entry = %now.id, "the record is not told of it");
                shared.raise(&fault);
            }
        }
        if !more {
            return Ok(());
        }
    }
}

/// Entries that are read from the record at once.
const PAGE: u32 = 500;

async fn tell(shared: &Arc<Shared>, entry: UndoEntry, act: Option<UndoId>) -> Result<(), Fault> {
    let session = shared.session(&entry.session)?;
    let UndoEntry {
        id: entry,
        call,
        paths,
        state,
        ..
    } = entry;
    let event = match state {
        UndoState::Undone => EventBody::UndoApplied {
            entry,
            call,
            paths,
            act,
        },
        UndoState::Applied | UndoState::Prepared => EventBody::RedoApplied {
            entry,
            call,
            paths,
            act,
        },
    };
    session.journal.keep(event).await
}

/// Work on the history, which waits for the disk.
pub(crate) async fn on_history<T: Send + 'static>(
    shared: &Arc<Shared>,
    work: impl FnOnce(&History) -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let history = shared.history.clone();
    let done = tokio::task::spawn_blocking(move || work(&history)).await;
    done.map_err(|_| {
        Fault::new(
            "The work on the history broke off.",
            "Open the app again: it finishes what was begun.",
        )
    })?
}

fn explain(error: RestoreError) -> Fault {
    match error {
        RestoreError::Conflict(paths) => {
            let named = paths
                .iter()
                .take(3)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(", ");
            let more = paths.len().saturating_sub(3);
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            Fault::new(
                format!("Nothing was restored, because {named}{more} changed since."),
                "Choose for each whether to keep it or to restore it, then try again.",
            )
        }
        RestoreError::Failed(fault) => fault,
    }
}
