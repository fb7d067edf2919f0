//! Takes an effect back, or brings it again: restored on disk first, then told.

use std::sync::Arc;

use protocol::op::Receipt;
use protocol::{EventBody, Fault, UndoId};
use runtime::{Direction, RestoreError};

use crate::desk::Shared;

/// Restores one history entry. Where something changed since, nothing is touched and the fault names it.
pub(crate) async fn restore(
    shared: &Arc<Shared>,
    id: &UndoId,
    direction: Direction,
) -> Result<Receipt, Fault> {
    let entry = shared.record.undo_entry(id)?.ok_or_else(|| {
        Fault::new(
            format!("There is no history entry {id}."),
            "Look at the history for its id.",
        )
    })?;
    let session = shared.session(&entry.session)?;
    let (history, undone) = (shared.history.clone(), id.clone());
    let paths = tokio::task::spawn_blocking(move || history.restore(&undone, direction))
        .await
        .map_err(|_| {
            Fault::new(
                "The restoring broke off.",
                "Open the app again: it finishes what was begun.",
            )
        })?
        .map_err(explain)?;
    let (entry, call) = (entry.id, entry.call);
    let event = match direction {
        Direction::Undo => EventBody::UndoApplied { entry, call, paths },
        Direction::Redo => EventBody::RedoApplied { entry, call, paths },
    };
    session
        .journal
        .keep(event)
        .await
        .map(|()| Receipt::default())
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
                "Move or revert what changed, then try again.",
            )
        }
        RestoreError::Failed(fault) => fault,
    }
}
