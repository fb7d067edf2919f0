//! The report of what the person's attention was spent on: from the record, the history, and the rules.

use std::collections::HashSet;
use std::sync::Arc;

use protocol::view::attention::{AttentionReport, UnaskedReport};
use protocol::{UndoId, UndoState, UserError};

use crate::engine::since::parse_since;
use crate::rulebook::queries;
use crate::session::engine_state::EngineState;
use crate::undo;

/// Returns the report since a time as a person writes it; since the beginning of today if none is given.
pub(crate) async fn build_report(
    engine: &Arc<EngineState>,
    since: Option<String>,
) -> Result<AttentionReport, UserError> {
    let reporting = Arc::clone(engine);
    undo::with_history(engine, move |history| {
        let now = reporting.now();
        let since = match since {
            Some(text) => parse_since(&text, now)?,
            None => record::find_local_midnight(now).unwrap_or(now),
        };
        let recorded = reporting.record.attention(since, now)?;
        let mut report = recorded.report;
        report.rule = queries::find_best_rule(&reporting, since)?;
        let unasked: HashSet<UndoId> = recorded.undo_entries.into_iter().collect();
        let mut undoable = history.entries()?;
        undoable.retain(|entry| entry.state == UndoState::Applied && unasked.contains(&entry.id));
        report.unasked.undoable = undoable.len() as u64;
        let latest = undoable.into_iter().rev();
        report.unasked.latest = latest.take(UnaskedReport::LISTED_MAX).collect();
        Ok(report)
    })
    .await
}
