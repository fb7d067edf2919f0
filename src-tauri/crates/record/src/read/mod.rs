//! Questions to the record: sessions, desk, transcript, events and undo entries.

pub(crate) mod attention;
mod deletions;
pub(crate) mod verdicts;

use protocol::view::entry::SessionView;
use protocol::{CallId, Entry, Event, SessionId, SessionState, UndoEntry, UndoId};
use rusqlite::{Connection, OptionalExtension, Params, params};

use crate::RecordError;
use crate::limits::{PAGE_BYTES_MAX, PAGE_ENTRIES_MAX, PAGE_EVENTS_MAX, PAGE_UNDO_MAX};
use crate::projections::load::{
    ENTRY_WITH_FOLDED_COLUMNS, EVENT_COLUMNS, EVENT_IN_SPAN_COLUMNS, EVENTS_OF_ENTRY, load_rows,
};
use crate::projections::statements::{from_json, seq_to_sql};
use crate::projections::{columns, load};
use crate::reader_pool::ProjectionState;
use crate::record::Record;

pub(crate) const SELECT_SESSIONS: &str =
    "SELECT view FROM sessions WHERE view IS NOT NULL ORDER BY seq DESC";
/// Those that may be at work. What else has the words in it is sorted out when it is read.
const SELECT_ACTIVE_SESSIONS: &str = "SELECT view FROM sessions WHERE view LIKE '%\"running\"%' OR view LIKE '%\"waiting\"%' ORDER BY seq DESC";
const SELECT_SESSION: &str = "SELECT view FROM sessions WHERE id = ?1";
const ENTRIES_BEFORE: &str = "WHERE entries.session = (SELECT key FROM sessions WHERE id = ?1) AND entries.seq < ?2 \
     ORDER BY entries.seq DESC LIMIT ?3";
const ENTRIES_FROM: &str = "WHERE entries.session = (SELECT key FROM sessions WHERE id = ?1) AND entries.seq >= ?2 \
     ORDER BY entries.seq LIMIT ?3";
const ENTRY_BY_ID: &str =
    "WHERE entries.id = ?2 AND entries.session = (SELECT key FROM sessions WHERE id = ?1)";
const SELECT_FAILED_CALL: &str = "SELECT entries.session, entries.seq, entries.folded_to, folded.entry \
     FROM entries INDEXED BY entries_failed LEFT JOIN folded ON folded.seq = entries.seq \
     WHERE entries.state = 'failed' AND entries.session = (SELECT key FROM sessions WHERE id = ?1) AND entries.seq < ?2 \
     ORDER BY entries.seq DESC LIMIT 1";
const SELECT_DESK: &str = "SELECT entries.session, entries.seq, entries.folded_to, folded.entry \
     FROM entries INDEXED BY entries_waiting JOIN folded ON folded.seq = entries.seq WHERE state = 'waiting' \
     ORDER BY entries.seq";
const EVENTS_SINCE: &str = "WHERE events.seq > ?1 ORDER BY events.seq LIMIT ?2";
const SESSION_EVENTS_SINCE: &str = "WHERE spans.session = (SELECT key FROM sessions WHERE id = ?1) AND spans.last > ?2 \
     AND events.seq > ?2 ORDER BY spans.last, events.seq LIMIT ?3";
/// A call's place. What ended has no event after the last that its row holds, until one changes the row.
const SELECT_CALL_RANGE: &str = "SELECT session, seq, iif(state IN ('proposed', 'waiting', 'running'), 9223372036854775807, folded_to) \
     FROM entries WHERE id = ?2 AND session = (SELECT key FROM sessions WHERE id = ?1)";
const SELECT_UNDO_ENTRIES: &str =
    "SELECT entry FROM undo_entries ORDER BY seq DESC LIMIT ?1 OFFSET ?2";
const SELECT_UNDO_ENTRY: &str = "SELECT entry FROM undo_entries WHERE id = ?1";

/// The data that a window needs first, all as of one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordOverview {
    /// The last event that the rest includes.
    pub seq: u64,
    /// Every session, the one that changed last first.
    pub sessions: Vec<SessionView>,
    /// Every waiting call, the one that waits longest first.
    pub desk: Vec<Entry>,
}

/// A stretch of a session's transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct TranscriptPage {
    /// Oldest first.
    pub entries: Vec<Entry>,
    /// Whether there are more in the direction asked.
    pub more: bool,
    /// The last event that they include.
    pub seq: u64,
}

impl Record {
    /// The last event's position, session list and desk at one moment.
    pub fn overview(&self) -> Result<RecordOverview, RecordError> {
        self.query_projections(|tx| {
            Ok(RecordOverview {
                seq: load::load_projected_seq(tx)?,
                sessions: load_sessions(tx, SELECT_SESSIONS)?,
                desk: load_desk(tx)?,
            })
        })
    }

    /// The last event's position; 0 if there is none.
    pub fn last_seq(&self) -> Result<u64, RecordError> {
        if let Some(log) = &self.inner.log {
            return Ok(log.last_seq());
        }
        self.inner
            .readers
            .read_snapshot(ProjectionState::Current, |tx| load::load_last_seq(tx))
    }

    /// Every session, the one that changed last first.
    pub fn sessions(&self) -> Result<Vec<SessionView>, RecordError> {
        self.query_projections(|tx| load_sessions(tx, SELECT_SESSIONS))
    }

    /// Every session that runs or waits by what is on record, the one that changed last first.
    pub fn active_sessions(&self) -> Result<Vec<SessionView>, RecordError> {
        let mut sessions =
            self.query_projections(|tx| load_sessions(tx, SELECT_ACTIVE_SESSIONS))?;
        sessions.retain(|view| matches!(view.state, SessionState::Running | SessionState::Waiting));
        Ok(sessions)
    }

    /// One session.
    pub fn session(&self, id: &SessionId) -> Result<Option<SessionView>, RecordError> {
        self.query_projections(|tx| load_session_view(tx, id))
    }

    /// Every waiting call of every session, the one that waits longest first.
    pub fn desk(&self) -> Result<Vec<Entry>, RecordError> {
        self.query_projections(|tx| load_desk(tx))
    }

    /// At most `limit` entries of a session before the position `before`, or at its end; oldest first. Also whether
    /// there are earlier ones. A page is cut short at 500 entries and at 8 MB.
    pub fn transcript_before(
        &self,
        session: &SessionId,
        before: Option<u64>,
        limit: u32,
    ) -> Result<(Vec<Entry>, bool), RecordError> {
        let stretch = self.transcript_page_before(session, before, limit)?;
        Ok((stretch.entries, stretch.more))
    }

    /// Returns the page with the last event that it includes.
    pub fn transcript_page_before(
        &self,
        session: &SessionId,
        before: Option<u64>,
        limit: u32,
    ) -> Result<TranscriptPage, RecordError> {
        self.query_projections(|tx| {
            let before = before.map_or(i64::MAX, seq_to_sql);
            let (mut entries, more) = load_entry_page(tx, ENTRIES_BEFORE, session, before, limit)?;
            entries.reverse();
            let seq = load::load_projected_seq(tx)?;
            Ok(TranscriptPage { entries, more, seq })
        })
    }

    /// At most `limit` entries of a session from the position `from` on, oldest first. Also whether there are later
    /// ones. A page is cut short at 500 entries and at 8 MB.
    pub fn transcript_from(
        &self,
        session: &SessionId,
        from: u64,
        limit: u32,
    ) -> Result<(Vec<Entry>, bool), RecordError> {
        let stretch = self.transcript_page_from(session, from, limit)?;
        Ok((stretch.entries, stretch.more))
    }

    /// Returns the page with the last event that it includes.
    pub fn transcript_page_from(
        &self,
        session: &SessionId,
        from: u64,
        limit: u32,
    ) -> Result<TranscriptPage, RecordError> {
        self.query_projections(|tx| {
            let (entries, more) =
                load_entry_page(tx, ENTRIES_FROM, session, seq_to_sql(from), limit)?;
            let seq = load::load_projected_seq(tx)?;
            Ok(TranscriptPage { entries, more, seq })
        })
    }

    /// One entry, by its message's, call's or notice's id.
    pub fn entry(&self, session: &SessionId, id: &str) -> Result<Option<Entry>, RecordError> {
        self.query_projections(|tx| {
            let (mut entries, _) = collect_entries(
                tx,
                &format!("SELECT {ENTRY_WITH_FOLDED_COLUMNS} {ENTRY_BY_ID}"),
                params![session.as_str(), id],
                1,
            )?;
            Ok(entries.pop())
        })
    }

    /// The newest failed call of a session before the position `before`, or of all of its calls.
    pub fn newest_failed_call(
        &self,
        session: &SessionId,
        before: Option<u64>,
    ) -> Result<Option<Entry>, RecordError> {
        self.query_projections(|tx| {
            let before = before.map_or(i64::MAX, seq_to_sql);
            let (mut entries, _) =
                collect_entries(tx, SELECT_FAILED_CALL, params![session.as_str(), before], 1)?;
            Ok(entries.pop())
        })
    }

    /// At most `limit` events after the position `since`, of one session or of all, in order. At most 10,000.
    pub fn events(
        &self,
        since: u64,
        session: Option<&SessionId>,
        limit: u32,
    ) -> Result<Vec<Event>, RecordError> {
        let limit = limit.min(PAGE_EVENTS_MAX);
        if let Some(log) = &self.inner.log {
            return Ok(log.events(since, session, limit));
        }
        self.inner
            .readers
            .read_snapshot(ProjectionState::Current, |tx| match session {
                None => load_events(
                    tx,
                    &format!("{EVENT_COLUMNS} {EVENTS_SINCE}"),
                    params![seq_to_sql(since), limit],
                ),
                Some(id) => {
                    let range = format!("{EVENT_IN_SPAN_COLUMNS} {SESSION_EVENTS_SINCE}");
                    load_events(tx, &range, params![id.as_str(), seq_to_sql(since), limit])
                }
            })
    }

    /// The events about one call, or of one message, after a position, in order; at most 10,000 at a time.
    pub fn call_events(
        &self,
        session: &SessionId,
        call: &CallId,
        since: u64,
    ) -> Result<Vec<Event>, RecordError> {
        self.query_projections(|tx| {
            let place: Option<(i64, i64, i64)> = tx
                .prepare_cached(SELECT_CALL_RANGE)?
                .query_row(params![session.as_str(), call.as_str()], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
                })
                .optional()?;
            let Some((session, seq, last)) = place else {
                return Ok(Vec::new());
            };
            let range =
                format!("{EVENT_IN_SPAN_COLUMNS} {EVENTS_OF_ENTRY} LIMIT {PAGE_EVENTS_MAX}");
            let from = seq.max(seq_to_sql(since.saturating_add(1)));
            load_events(tx, &range, params![session, seq, from, last])
        })
    }

    /// The undo list, newest first, without the first `offset`; also whether there are more. At most 500 at a time.
    pub fn undo_entries(
        &self,
        offset: u32,
        limit: u32,
    ) -> Result<(Vec<UndoEntry>, bool), RecordError> {
        let limit = limit.min(PAGE_UNDO_MAX);
        self.query_projections(|tx| {
            let page = params![limit + 1, offset];
            let mut entries: Vec<UndoEntry> = load_rows(tx, SELECT_UNDO_ENTRIES, page, |row| {
                from_json("undo entry", &row.get::<_, String>(0)?)
            })?;
            let more = entries.len() > limit as usize;
            entries.truncate(limit as usize);
            Ok((entries, more))
        })
    }

    /// One undo entry.
    pub fn undo_entry(&self, id: &UndoId) -> Result<Option<UndoEntry>, RecordError> {
        self.query_projections(|tx| {
            let json: Option<String> = tx
                .prepare_cached(SELECT_UNDO_ENTRY)?
                .query_row([id.as_str()], |row| row.get(0))
                .optional()?;
            json.map(|text| from_json("undo entry", &text)).transpose()
        })
    }
}

/// Loads sessions, the one that changed last first. One that was imported changed when its agent wrote it, and not when
/// that was recorded here.
fn load_sessions(conn: &Connection, sql: &str) -> Result<Vec<SessionView>, RecordError> {
    let mut sessions: Vec<SessionView> = load_rows(conn, sql, [], |row| {
        from_json("session", &row.get::<_, String>(0)?)
    })?;
    sessions.sort_by_key(|view| std::cmp::Reverse(view.changed_at));
    Ok(sessions)
}

/// One session's line.
pub(crate) fn load_session_view(
    conn: &Connection,
    id: &SessionId,
) -> Result<Option<SessionView>, RecordError> {
    let json: Option<Option<String>> = conn
        .prepare_cached(SELECT_SESSION)?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()?;
    json.flatten()
        .map(|text| from_json("session", &text))
        .transpose()
}

fn load_desk(conn: &Connection) -> Result<Vec<Entry>, RecordError> {
    let (mut entries, _) = collect_entries(conn, SELECT_DESK, [], u32::MAX)?;
    entries.sort_by_key(|entry| {
        let since = columns::call_of_entry(entry).and_then(protocol::CallView::waiting_since);
        (since.unwrap_or(entry.at), entry.seq)
    });
    Ok(entries)
}

/// A page of a session's entries in the order of the statement.
pub(crate) fn load_entry_page(
    conn: &Connection,
    range: &str,
    session: &SessionId,
    position: i64,
    limit: u32,
) -> Result<(Vec<Entry>, bool), RecordError> {
    let limit = limit.min(PAGE_ENTRIES_MAX);
    let statement = format!("SELECT {ENTRY_WITH_FOLDED_COLUMNS} {range}");
    collect_entries(
        conn,
        &statement,
        params![session.as_str(), position, limit + 1],
        limit,
    )
}

/// The entries that a statement gives, at most `limit` and at most 8 MB; also whether it gave more.
fn collect_entries(
    conn: &Connection,
    statement: &str,
    params: impl Params,
    limit: u32,
) -> Result<(Vec<Entry>, bool), RecordError> {
    let mut statement = conn.prepare_cached(statement)?;
    let mut rows = statement.query(params)?;
    let mut entries = Vec::new();
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        if entries.len() >= limit as usize || bytes > PAGE_BYTES_MAX {
            return Ok((entries, true));
        }
        let loaded = load::load_entry_from_row(conn, row)?;
        bytes += loaded.bytes;
        entries.push(loaded.entry);
    }
    Ok((entries, false))
}

/// The events that a range gives.
fn load_events(
    conn: &Connection,
    range: &str,
    params: impl Params,
) -> Result<Vec<Event>, RecordError> {
    load_rows(
        conn,
        &format!("SELECT {range}"),
        params,
        load::event_from_row,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::open_empty;
    use crate::schema::explain_query_plan;

    #[test]
    fn no_page_reads_or_sorts_a_whole_table() {
        let conn = open_empty().unwrap();
        for (statement, uses) in [
            (
                format!("SELECT {ENTRY_WITH_FOLDED_COLUMNS} {ENTRIES_BEFORE}"),
                "entries_session",
            ),
            (
                format!("SELECT {ENTRY_WITH_FOLDED_COLUMNS} {ENTRIES_FROM}"),
                "entries_session",
            ),
            (
                format!("SELECT {ENTRY_WITH_FOLDED_COLUMNS} {ENTRY_BY_ID}"),
                "entries_id",
            ),
            (SELECT_FAILED_CALL.to_owned(), "entries_failed"),
            (SELECT_DESK.to_owned(), "entries_waiting"),
            (
                format!("SELECT {EVENT_COLUMNS} {EVENTS_SINCE}"),
                "INTEGER PRIMARY KEY (rowid>?)",
            ),
            (
                format!("SELECT {EVENT_IN_SPAN_COLUMNS} {SESSION_EVENTS_SINCE}"),
                "PRIMARY KEY (session=? AND last>?)",
            ),
            (
                format!("SELECT {EVENT_IN_SPAN_COLUMNS} {EVENTS_OF_ENTRY}"),
                "INTEGER PRIMARY KEY (rowid>? AND rowid<?)",
            ),
            (SELECT_CALL_RANGE.to_owned(), "entries_id"),
            (SELECT_UNDO_ENTRY.to_owned(), "undo_entries"),
            (SELECT_SESSION.to_owned(), "sqlite_autoindex_sessions_1"),
        ] {
            let steps = explain_query_plan(&conn, &statement);
            assert!(
                steps.iter().any(|step| step.contains(uses)),
                "{statement}: {steps:#?}"
            );
            for step in &steps {
                // The desk reads the whole of its own small index, and nothing else.
                let desk = step.contains("entries_waiting");
                assert!(desk || !step.starts_with("SCAN"), "{statement}: {steps:#?}");
                assert!(!step.contains("TEMP B-TREE"), "{statement}: {steps:#?}");
            }
        }
        // The undo list is walked from its newest end, without sorting.
        assert_eq!(
            explain_query_plan(&conn, SELECT_UNDO_ENTRIES),
            ["SCAN undo_entries"]
        );
    }
}
