//! Undo and redo of effects: restored on disk first, then recorded, for each call in its own session.

pub(crate) mod coverage;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use protocol::event::CallChange;
use protocol::history::{
    PathChoice, RestorePreview, RestoreReceipt, RestoreRequest, Timeline, UndoCheck,
};
use protocol::op::OpReceipt;
use protocol::{EventBody, UndoEntry, UndoId, UndoState, UserError};
use runtime::undo::PathConflict;
use runtime::{History, RestoreError, RestoreMeta, Workspace};

use crate::session::engine_state::EngineState;
use crate::session::session_lock::is_locked_or_unknown;

/// Carries out one undo or redo of the person. If something changed since and the request has no choice for it, nothing
/// is touched and the error names it.
pub(crate) async fn restore_entries(
    engine: &Arc<EngineState>,
    restore: RestoreRequest,
    choices: Vec<PathChoice>,
) -> Result<OpReceipt, UserError> {
    let config = &engine.config;
    let meta = RestoreMeta {
        id: UndoId(config.ids.next_id("und")),
        at: config.clock.now(),
    };
    let data_dir = config.data_dir.clone();
    let done = with_history(engine, move |history| {
        list_entries(history, &data_dir)?;
        history
            .restore(&restore, &choices, meta)
            .map_err(restore_error)
    });
    let done = done.await?;
    for entry in done.changed_entries {
        record_restore(engine, entry, Some(done.receipt.entry.id.clone())).await?;
    }
    Ok(OpReceipt {
        restored: Some(Box::new(done.receipt)),
        ..OpReceipt::default()
    })
}

/// Returns the request to undo one entry.
pub(crate) fn single_entry(entry: UndoId) -> RestoreRequest {
    RestoreRequest::Undo {
        entries: vec![entry],
    }
}

/// Previews an undo or redo: the conflicts and changes, with differences and the effects that it cannot revert.
pub(crate) async fn preview_restore(
    engine: &Arc<EngineState>,
    restore: RestoreRequest,
) -> Result<RestorePreview, UserError> {
    let data_dir = engine.config.data_dir.clone();
    let looked = with_history(engine, move |history| {
        list_entries(history, &data_dir)?;
        history.preview_restore(&restore)
    });
    let looked = looked.await?;
    let mut preview = looked.preview;
    for (conflict, clash) in preview.conflicts.iter_mut().zip(&looked.conflicts) {
        let PathConflict { texts, merged, .. } = clash;
        let Some((now, wanted)) = texts else { continue };
        let difference = |after: &[u8]| {
            tools::diff::diff_file(
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
    coverage::add_coverage(engine, &mut preview)?;
    Ok(preview)
}

/// Returns the paths that have changed since, for an undo or redo of one entry.
pub(crate) async fn check_undo(
    engine: &Arc<EngineState>,
    id: UndoId,
) -> Result<UndoCheck, UserError> {
    let looked = with_history(engine, move |history| {
        let entry = history.entry(&id)?;
        let restore = match entry.map(|entry| entry.state) {
            Some(UndoState::Undone) => RestoreRequest::Redo { entry: id.clone() },
            Some(UndoState::Prepared | UndoState::Applied) | None => single_entry(id.clone()),
        };
        history.preview_restore(&restore).map(|looked| (id, looked))
    });
    let (id, looked) = looked.await?;
    let conflicts = looked.preview.conflicts.into_iter();
    Ok(UndoCheck {
        id,
        conflicts: conflicts.map(|conflict| conflict.path).collect(),
    })
}

/// Returns the receipt of an undo or redo.
pub(crate) async fn restore_receipt(
    engine: &Arc<EngineState>,
    id: UndoId,
) -> Result<RestoreReceipt, UserError> {
    with_history(engine, move |history| history.receipt(&id)).await
}

/// Returns the history of a workspace, or of all, the newest first.
pub(crate) async fn undo_timeline(
    engine: &Arc<EngineState>,
    workspace: Option<String>,
    offset: u32,
    limit: u32,
) -> Result<Timeline, UserError> {
    let settings = engine.settings();
    let data_dir = engine.config.data_dir.clone();
    with_history(engine, move |history| {
        let root = workspace.map(|path| match Workspace::open(Path::new(&path)) {
            Ok(workspace) => workspace.root().display().to_string(),
            // A folder that is gone still has its history.
            Err(_) => path,
        });
        let mut entries = list_entries(history, &data_dir)?;
        entries.retain(|entry| root.as_ref().is_none_or(|root| entry.workspace == *root));
        entries.reverse();
        let total = entries.len();
        let (offset, limit) = (offset as usize, limit as usize);
        let entries: Vec<UndoEntry> = entries.into_iter().skip(offset).take(limit).collect();
        let warning = root.and_then(|root| coverage::home_folder_warning(Path::new(&root)));
        Ok(Timeline {
            more: offset + entries.len() < total,
            entries,
            entries_total: total as u64,
            store_bytes: history.disk_bytes()?,
            store_bytes_max: settings.undo_bytes_max,
            keep_days: settings.undo_keep_days,
            warnings: warning.into_iter().collect(),
        })
    })
    .await
}

/// Returns every undo entry in its current state. An entry that no process is working on any more and that was left
/// unfinished, by a crash or because an earlier version could not settle it, is first settled to one side.
pub(crate) fn list_entries(
    history: &History,
    data_dir: &Path,
) -> Result<Vec<UndoEntry>, UserError> {
    let entries = history.entries()?;
    let is_left = |entry: &UndoEntry| {
        entry.state == UndoState::Prepared && !is_locked_or_unknown(data_dir, &entry.session)
    };
    if !entries.iter().any(is_left) {
        return Ok(entries);
    }
    if let Err(fault) =
        history.recover_interrupted(|session| is_locked_or_unknown(data_dir, session))
    {
        // The entry that is not settled may be unrelated to the request.
        tracing::warn!(%fault, "not every entry is settled");
    }
    history.entries()
}

/// Records what the history has and the record lacks: an undo or redo that was done when the app ended before recording
/// it.
pub(crate) async fn reconcile_history(engine: &Arc<EngineState>) -> Result<(), UserError> {
    let stand = with_history(engine, |history| history.entries()).await?;
    let stand: BTreeMap<UndoId, UndoEntry> = stand
        .into_iter()
        .map(|entry| (entry.id.clone(), entry))
        .collect();
    let mut offset = 0;
    loop {
        let (page, more) = engine.record.undo_entries(offset, HISTORY_PAGE_LEN)?;
        offset += u32::try_from(page.len()).unwrap_or(HISTORY_PAGE_LEN);
        for told in page {
            let Some(now) = stand.get(&told.id) else {
                continue;
            };
            if matches!(
                (told.state, now.state),
                (UndoState::Applied, UndoState::Undone) | (UndoState::Undone, UndoState::Applied)
            ) && let Err(fault) = record_restore(engine, now.clone(), None).await
            {
                // A workspace that is gone, for one, must not keep the others from being told.
                tracing::warn!(%fault, entry = %now.id, "the record is not notified of it");
                engine.raise_error(&fault);
            }
        }
        if !more {
            return Ok(());
        }
    }
}

/// Number of entries that are read from the record at once.
const HISTORY_PAGE_LEN: u32 = 500;

async fn record_restore(
    engine: &Arc<EngineState>,
    entry: UndoEntry,
    action: Option<UndoId>,
) -> Result<(), UserError> {
    let session = engine.session(&entry.session)?;
    // What was kept in a cache of the home folder is no effect that the call's entry has: the history alone has it.
    if entry.workspace != session.tool_context.workspace.root().display().to_string() {
        return Ok(());
    }
    let UndoEntry {
        id: entry,
        call,
        paths,
        state,
        ..
    } = entry;
    let change = match state {
        UndoState::Undone => CallChange::UndoApplied {
            entry,
            paths,
            action,
        },
        UndoState::Applied | UndoState::Prepared => CallChange::RedoApplied {
            entry,
            paths,
            action,
        },
    };
    session
        .journal
        .record_synced(EventBody::for_call(&call, change))
        .await
}

/// Runs work on the history, which waits for the disk, on a blocking thread.
pub(crate) async fn with_history<T: Send + 'static>(
    engine: &Arc<EngineState>,
    work: impl FnOnce(&History) -> Result<T, UserError> + Send + 'static,
) -> Result<T, UserError> {
    let history = engine.history.clone();
    let done = tokio::task::spawn_blocking(move || work(&history)).await;
    done.map_err(|_| {
        UserError::new(
            "The work on the history broke off.",
            "Open the app again: it finishes what was begun.",
        )
    })?
}

fn restore_error(error: RestoreError) -> UserError {
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
            UserError::new(
                format!("Nothing was restored, because {named}{more} changed since."),
                "Choose for each whether to keep it or to restore it, then try again.",
            )
        }
        RestoreError::Failed(fault) => fault,
    }
}
