//! Questions about sessions that were deleted, or are to be.

use protocol::event::SessionEvent;
use protocol::session::deletion::DeletedSession;
use protocol::{Event, EventBody, SessionId};
use rusqlite::Transaction;

use crate::RecordError;
use crate::projections::load::{EVENT_COLUMNS, event_from_row, load_rows};
use crate::projections::statements::seq_from_sql;
use crate::reader_pool::ProjectionState;
use crate::record::Record;

const DELETIONS: &str = "WHERE events.seq IN (SELECT seq FROM deletions ORDER BY seq DESC LIMIT ?1) ORDER BY events.seq DESC";
const IS_DELETED: &str = "SELECT EXISTS (SELECT 1 FROM deletions WHERE session = (SELECT key FROM sessions WHERE id = ?1))";
const COUNT_CALLS: &str = "SELECT count(*) FROM entries WHERE session = (SELECT key FROM sessions WHERE id = ?1) AND body = 'call'";

impl Record {
    /// The sessions that were deleted, the last one first; at most `limit`.
    pub fn deleted_sessions(&self, limit: usize) -> Result<Vec<DeletedSession>, RecordError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let events = self.read_log(|tx| {
            load_rows(
                tx,
                &format!("SELECT {EVENT_COLUMNS} {DELETIONS}"),
                [limit],
                event_from_row,
            )
        })?;
        Ok(events.into_iter().filter_map(to_deleted_session).collect())
    }

    /// Whether a session was deleted.
    pub fn is_deleted(&self, session: &SessionId) -> Result<bool, RecordError> {
        self.read_log(|tx| {
            Ok(tx
                .prepare_cached(IS_DELETED)?
                .query_row([session.as_str()], |row| row.get(0))?)
        })
    }

    /// Number of calls in a session.
    pub fn count_calls(&self, session: &SessionId) -> Result<u64, RecordError> {
        self.query_projections(|tx| {
            let calls = tx
                .prepare_cached(COUNT_CALLS)?
                .query_row([session.as_str()], |row| row.get(0))?;
            Ok(seq_from_sql(calls))
        })
    }

    fn read_log<T>(
        &self,
        question: impl FnOnce(&Transaction<'_>) -> Result<T, RecordError>,
    ) -> Result<T, RecordError> {
        self.inner
            .readers
            .read_snapshot(ProjectionState::Current, question)
    }
}

fn to_deleted_session(event: Event) -> Option<DeletedSession> {
    match event.body {
        EventBody::Session(SessionEvent::Deleted { host, calls }) => Some(DeletedSession {
            session: event.session,
            at: event.at,
            host,
            calls,
        }),
        EventBody::Session(_)
        | EventBody::Message { .. }
        | EventBody::Proposal(_)
        | EventBody::Call { .. } => None,
    }
}
