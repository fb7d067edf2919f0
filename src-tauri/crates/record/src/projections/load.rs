//! Reading back: the last position, events, sessions, and entries with what their rows lack.

use protocol::{Entry, Event, EventBody, SessionId};
use rusqlite::{Connection, OptionalExtension, Params, Row as SqlRow, params};

use crate::RecordError;
use crate::error::damaged_value_error;
use crate::projections::columns;
use crate::projections::columns::IndexState;
use crate::projections::live_cache::{LiveEntry, LiveSession, RowGap, RowState};
use crate::projections::statements::{from_json, seq_from_sql, seq_to_sql};

/// The last event's position; 0 if there is none.
pub(crate) fn load_last_seq(conn: &Connection) -> Result<u64, RecordError> {
    let last: Option<i64> = conn
        .prepare_cached("SELECT max(seq) FROM events")?
        .query_row([], |row| row.get(0))?;
    Ok(last.map_or(0, seq_from_sql))
}

/// Loads the position of the last event that is fully projected.
pub(crate) fn load_projected_seq(conn: &Connection) -> Result<u64, RecordError> {
    let upto: Option<i64> = conn
        .prepare_cached("SELECT upto FROM projected")?
        .query_row([], |row| row.get(0))
        .optional()?;
    upto.map(seq_from_sql)
        .ok_or_else(|| damaged_value_error("projected", &"its row is gone"))
}

/// Loads every row that a statement gives.
pub(crate) fn load_rows<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&SqlRow<'_>) -> Result<T, RecordError>,
) -> Result<Vec<T>, RecordError> {
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_and_then(params, read)?;
    rows.collect()
}

/// The columns of an event for [`event_from_row`].
pub(crate) const EVENT_COLUMNS: &str = "events.seq, sessions.id, events.at, events.body FROM events \
     JOIN sessions ON sessions.key = events.session";

/// The same columns from one session's events, found through its spans.
pub(crate) const EVENT_IN_SPAN_COLUMNS: &str = "events.seq, sessions.id, events.at, events.body FROM spans \
     CROSS JOIN events ON events.seq BETWEEN spans.first AND spans.last AND events.session = spans.session \
     CROSS JOIN sessions ON sessions.key = spans.session";

/// The columns of an entry for [`load_entry_from_row`].
pub(crate) const ENTRY_WITH_FOLDED_COLUMNS: &str = "entries.session, entries.seq, entries.folded_to, folded.entry \
     FROM entries LEFT JOIN folded ON folded.seq = entries.seq";

/// The `folded_to` of an entry that has no JSON yet.
pub(crate) const NOT_FOLDED_SEQ: u64 = 0;

/// The events about one entry within a range of positions. They stand close to where the entry began, so the range is
/// walked: an index over all events would cost every append more than it saves here.
pub(crate) const EVENTS_OF_ENTRY: &str = "WHERE spans.session = ?1 AND spans.last >= ?3 AND spans.first <= ?4 \
     AND events.entry = ?2 AND events.seq >= ?3 AND events.seq <= ?4 ORDER BY spans.last, events.seq";

/// An event from the columns [`EVENT_COLUMNS`].
pub(crate) fn event_from_row(row: &SqlRow<'_>) -> Result<Event, RecordError> {
    let at = seq_from_sql(row.get(0)?);
    let body: EventBody = from_json(
        &format!("event {at}"),
        row.get_ref(3)?
            .as_str()
            .map_err(|e| damaged_value_error("event", &e))?,
    )?;
    Ok(Event {
        seq: at,
        session: SessionId(row.get(1)?),
        at: row.get(2)?,
        body,
    })
}

/// A session from its row.
pub(crate) fn load_session(
    conn: &Connection,
    id: &SessionId,
) -> Result<Option<LiveSession>, RecordError> {
    let row: Option<(i64, Option<String>)> = conn
        .prepare_cached("SELECT key, view FROM sessions WHERE id = ?1")?
        .query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((key, view)) = row else {
        return Ok(None);
    };
    let waiting: i64 = conn
        .prepare_cached(
            "SELECT count(*) FROM entries INDEXED BY entries_waiting WHERE state = 'waiting' AND session = ?1",
        )?
        .query_row([key], |row| row.get(0))?;
    Ok(Some(LiveSession {
        view: view.map(|view| from_json("session", &view)).transpose()?,
        waiting: u32::try_from(waiting).unwrap_or(u32::MAX),
        ..LiveSession::new(key)
    }))
}

/// An entry as it was read.
pub(crate) struct LoadedEntry {
    pub(crate) entry: Entry,
    /// The last event that it holds.
    pub(crate) folded_to: u64,
    /// Stored bytes that were read for it.
    pub(crate) bytes: usize,
}

/// An entry from the columns [`ENTRY_WITH_FOLDED_COLUMNS`] and the events that they lack.
pub(crate) fn load_entry_from_row(
    conn: &Connection,
    row: &SqlRow<'_>,
) -> Result<LoadedEntry, RecordError> {
    let (session, at, folded_to): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let stored = row.get_ref(3)?.as_str_or_null();
    let stored = stored.map_err(|e| damaged_value_error("entry", &e))?;
    let (mut to, mut bytes) = (seq_from_sql(folded_to), stored.map_or(0, str::len));
    let mut entry: Option<Entry> = stored.map(|text| from_json("entry", text)).transpose()?;
    // A settled entry has nothing in the log that its row lacks; one whose JSON is owed has nothing after the last event
    // that its row names.
    if !entry.as_ref().is_some_and(columns::is_entry_settled) {
        let owed = entry.is_none() && to != NOT_FOLDED_SEQ;
        let (from, last) = match owed {
            true => (at, folded_to),
            // Nor does a reader take more of it than of all others.
            false => (at.max(folded_to + 1), seq_to_sql(load_projected_seq(conn)?)),
        };
        let mut statement =
            conn.prepare_cached(&format!("SELECT {EVENT_IN_SPAN_COLUMNS} {EVENTS_OF_ENTRY}"))?;
        let mut rows = statement.query([session, at, from, last])?;
        while let Some(row) = rows.next()? {
            let event = event_from_row(row)?;
            to = event.seq;
            bytes += row.get_ref(3)?.as_str().map_or(0, str::len);
            entry = protocol::event::fold::fold_entry(entry, &event);
        }
    }
    let entry = entry.ok_or_else(|| damaged_value_error("entry", &"its events are gone"))?;
    Ok(LoadedEntry {
        entry,
        folded_to: to,
        bytes,
    })
}

/// The entry of a search hit, as it was last folded. Its JSON is asked for alone: SQLite would plan the join of
/// [`ENTRY_WITH_FOLDED_COLUMNS`] anew for each hit.
pub(crate) fn load_entry_at(conn: &Connection, at: i64) -> Result<Option<Entry>, RecordError> {
    let stored: Option<String> = conn
        .prepare_cached("SELECT entry FROM folded WHERE seq = ?1")?
        .query_row([at], |row| row.get(0))
        .optional()?;
    if let Some(text) = stored {
        return from_json("entry", &text).map(Some);
    }
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {ENTRY_WITH_FOLDED_COLUMNS} WHERE entries.seq = ?1"
    ))?;
    let mut rows = statement.query([at])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    Ok(Some(load_entry_from_row(conn, row)?.entry))
}

/// An entry from its rows and the events after them.
pub(crate) fn load_entry(
    conn: &Connection,
    session: i64,
    id: &str,
) -> Result<Option<LiveEntry>, RecordError> {
    let mut statement = conn.prepare_cached(
        "SELECT entries.session, entries.seq, entries.folded_to, folded.entry, \
         entries.indexed, undo_entries.seq \
         FROM entries LEFT JOIN folded ON folded.seq = entries.seq \
         LEFT JOIN undo_entries ON undo_entries.call = entries.seq \
         WHERE entries.id = ?1 AND entries.session = ?2",
    )?;
    let mut rows = statement.query(params![id, session])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let LoadedEntry {
        entry,
        folded_to: to,
        bytes,
    } = load_entry_from_row(conn, row)?;
    let stored_to = seq_from_sql(row.get(2)?);
    let folded: Option<&str> = row.get_ref(3)?.as_str_or_null().ok().flatten();
    let mut live = LiveEntry {
        entry,
        folded_to: to,
        bytes,
        touched: false,
        row: RowState {
            stored: true,
            folded: folded.is_some(),
            waiting: false,
            indexed: IndexState::from_sql(row.get(4)?),
            undo_seq: row.get::<_, Option<i64>>(5)?.map(seq_from_sql),
            row_gap: if to == stored_to {
                RowGap::Nothing
            } else {
                RowGap::Pieces(0, 0)
            },
        },
    };
    live.row.waiting = live.is_waiting();
    Ok(Some(live))
}
