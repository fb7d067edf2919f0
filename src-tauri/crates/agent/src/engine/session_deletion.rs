//! Deletion of sessions: the record first, then everything beside it.
//!
//! **Once the record says that a session was deleted, nobody finds it any more.** What is left of it by then, because the
//! app ended in between, goes at the next start: the record erases its events by itself, [`finish_deletions`] the rest.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use protocol::event::SessionEvent;
use protocol::op::OpReceipt;
use protocol::session::deletion::{DeletedSession, DeletionHost, DeletionPreview};
use protocol::view::entry::SessionView;
use protocol::{EventBody, SessionId, UserError};
use record::Durability;
use runtime::{FileLock, RemovedEntries, SessionFolder};

use crate::engine::ongoing_work::is_active;
use crate::permissions::grant_ledger;
use crate::session::engine_state::{EngineState, missing_session_error};
use crate::session::session_lock::SessionLock;
use crate::undo::{list_entries, with_history};

/// Attempts to lock a session, and the time between two of them.
const LOCK_ATTEMPTS_MAX: usize = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(25);

/// Tells what goes with a session.
///
/// # Errors
/// There is no such session, or it cannot be deleted at the moment.
pub(super) async fn preview_deletion(
    engine: &Arc<EngineState>,
    id: &SessionId,
) -> Result<DeletionPreview, UserError> {
    let family = find_family(engine, id)?;
    check_family_is_idle(engine, &family)?;
    let mut calls = 0;
    for view in &family {
        calls += engine.record.count_calls(&view.id)?;
    }
    let removed = preview_removal(engine, ids_of(&family)).await?;
    Ok(DeletionPreview {
        calls,
        sub_agents: family.len() as u64 - 1,
        undo_entries: removed.entries,
        undo_bytes: removed.bytes,
    })
}

/// Deletes a session and those of its sub-agents.
///
/// # Errors
/// There is no such session, or it cannot be deleted at the moment; nothing was deleted then. Or it was deleted, and
/// something beside the record is left until the next start.
pub(super) async fn delete_session(
    engine: &Arc<EngineState>,
    id: &SessionId,
    host: DeletionHost,
) -> Result<OpReceipt, UserError> {
    check_family_is_idle(engine, &find_family(engine, id)?)?;
    let mut locks = vec![lock_session(engine, id).await?];
    // A session that does not work starts no sub-agent.
    let family = find_family(engine, id)?;
    for child in family.iter().skip(1) {
        locks.push(lock_session(engine, &child.id).await?);
    }
    check_family_is_idle(engine, &family)?;
    let ids = ids_of(&family);
    // Nothing is deleted while it is not known whether a change of files stands.
    preview_removal(engine, ids.clone()).await?;
    record_deletions(engine, family, host).await?;
    let removed = remove_leftovers(engine, ids.clone()).await;
    for id in &ids {
        engine.remove_session(id);
        if let Some(runner) = engine.agent_runner.get() {
            runner.close_session(id).await;
        }
    }
    drop(locks);
    removed.map(|()| OpReceipt::default())
}

/// Removes what is left of sessions that were deleted when the app ended.
///
/// # Errors
/// Something cannot be removed; the next start tries again.
pub(super) async fn finish_deletions(engine: &Arc<EngineState>) -> Result<(), UserError> {
    let deleted = engine.record.deleted_sessions(usize::MAX)?;
    if deleted.is_empty() {
        return Ok(());
    }
    let ids: BTreeSet<SessionId> = deleted.into_iter().map(|one| one.session).collect();
    remove_leftovers(engine, ids).await
}

/// Returns the sessions that were deleted, the last one first.
pub(super) fn list_deleted_sessions(
    engine: &EngineState,
) -> Result<Vec<DeletedSession>, UserError> {
    Ok(engine.record.deleted_sessions(DeletedSession::LISTED_MAX)?)
}

/// Locks a session, whether it is open in this process or not: its workspace need not exist any more. A run that has just
/// ended lets go of it in a moment.
async fn lock_session(engine: &EngineState, id: &SessionId) -> Result<Arc<FileLock>, UserError> {
    let folder = SessionFolder::open(&engine.config.data_dir, id)?;
    let mut attempts = 1;
    loop {
        match SessionLock::default().acquire(&folder) {
            Err(_) if attempts < LOCK_ATTEMPTS_MAX => attempts += 1,
            locked => return locked,
        }
        tokio::time::sleep(LOCK_PAUSE).await;
    }
}

fn ids_of(family: &[SessionView]) -> BTreeSet<SessionId> {
    family.iter().map(|view| view.id.clone()).collect()
}

/// Returns a session, and after it those that work for it and for one another.
fn find_family(engine: &EngineState, id: &SessionId) -> Result<Vec<SessionView>, UserError> {
    let mut others = engine.record.sessions()?;
    let at = others.iter().position(|view| view.id == *id);
    let at = at.ok_or_else(|| missing_session_error(id))?;
    let mut family = vec![others.swap_remove(at)];
    loop {
        let is_child = |view: &SessionView| {
            let parent = view.parent.as_ref();
            parent.is_some_and(|parent| family.iter().any(|one| one.id == parent.session))
        };
        let (children, rest): (Vec<_>, Vec<_>) = others.into_iter().partition(is_child);
        if children.is_empty() {
            return Ok(family);
        }
        family.extend(children);
        others = rest;
    }
}

/// Returns an error if one of the sessions is at work or waits for the person.
fn check_family_is_idle(engine: &EngineState, family: &[SessionView]) -> Result<(), UserError> {
    match family.iter().find(|view| is_active(engine, view)) {
        Some(view) => Err(UserError::new(
            format!(
                "The session “{}” is at work or waits for you, so it is not deleted.",
                view.title
            ),
            "Stop it first, then delete it.",
        )),
        None => Ok(()),
    }
}

/// Tells what goes from the history with sessions, once what a crash left under way is settled.
async fn preview_removal(
    engine: &Arc<EngineState>,
    ids: BTreeSet<SessionId>,
) -> Result<RemovedEntries, UserError> {
    let data_dir = engine.config.data_dir.clone();
    with_history(engine, move |history| {
        list_entries(history, &data_dir)?;
        history.preview_removal(&ids)
    })
    .await
}

/// Records that sessions were deleted, and waits until nothing is left of them in the record. The session itself is the
/// first of the family and is deleted last, so that it can be deleted again if this is interrupted.
async fn record_deletions(
    engine: &Arc<EngineState>,
    family: Vec<SessionView>,
    host: DeletionHost,
) -> Result<(), UserError> {
    let engine = Arc::clone(engine);
    let deleted = tokio::task::spawn_blocking(move || {
        let record = &engine.record;
        let mut acks = Vec::new();
        for view in family.into_iter().rev() {
            let calls = record.count_calls(&view.id)?;
            let deleted = EventBody::Session(SessionEvent::Deleted { host, calls });
            acks.push(record.append(view.id, engine.now(), deleted, Durability::OnDisk));
        }
        for ack in acks {
            ack.wait()?;
        }
        record
            .wait_until_erased()
            .map_err(|error| leftover_error(&error.to_user_error()))
    });
    deleted.await.map_err(|_| {
        UserError::new(
            "The deletion broke off.",
            "Open the app again: it finishes what was begun.",
        )
    })?
}

/// Removes the copies for undo, the long outputs, and the grants of sessions that are not on record any more.
async fn remove_leftovers(
    engine: &Arc<EngineState>,
    ids: BTreeSet<SessionId>,
) -> Result<(), UserError> {
    let data_dir = engine.config.data_dir.clone();
    let removed = with_history(engine, move |history| {
        grant_ledger::remove_session_grants(&data_dir, &ids)?;
        for id in &ids {
            SessionFolder::remove(&data_dir, id)?;
        }
        let is_left = history
            .entries()?
            .iter()
            .any(|entry| ids.contains(&entry.session));
        if is_left {
            history.remove_sessions(&ids)?;
        }
        Ok(())
    });
    removed.await.map_err(|fault| leftover_error(&fault))
}

/// Returns the error of a session that is deleted, though something of it is left.
fn leftover_error(fault: &UserError) -> UserError {
    UserError::new(
        format!(
            "The session was deleted, but not everything of it is gone yet: {}",
            fault.message
        ),
        "The rest goes when the app starts again.",
    )
    .with_source(fault)
}
