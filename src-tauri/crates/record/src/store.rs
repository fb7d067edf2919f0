//! The rows of sessions, events, entries, undo entries and the full-text index: read and written within one batch.

use protocol::{Entry, Event, EventBody, SessionId};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row as SqlRow, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::damaged;
use crate::live::{Lacks, LiveEntry, LiveSession, Row};
use crate::{RecordError, row, text};

/// A value as stored JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String, RecordError> {
    serde_json::to_string(value).map_err(|e| RecordError::Unwritable(std::sync::Arc::new(e)))
}

/// A value as stored JSON in a buffer that is used again, for the writer's many small values.
fn json_in<'b>(buffer: &'b mut Vec<u8>, value: &impl Serialize) -> Result<&'b str, RecordError> {
    buffer.clear();
    serde_json::to_writer(&mut *buffer, value)
        .map_err(|e| RecordError::Unwritable(std::sync::Arc::new(e)))?;
    std::str::from_utf8(buffer).map_err(|e| damaged("an event's JSON", &e))
}

/// Stored JSON as a value.
pub(crate) fn from_json<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, RecordError> {
    serde_json::from_str(text).map_err(|error| damaged(what, &error))
}

/// A position as SQLite stores it. Positions count single events from 1 and never come near the limit.
pub(crate) fn sql(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

/// A position as it was stored.
pub(crate) fn seq(stored: i64) -> u64 {
    u64::try_from(stored).unwrap_or(0)
}

/// The last event's position; 0 if there is none.
pub(crate) fn last_seq(conn: &Connection) -> Result<u64, RecordError> {
    let last: Option<i64> = conn
        .prepare_cached("SELECT max(seq) FROM events")?
        .query_row([], |row| row.get(0))?;
    Ok(last.map_or(0, seq))
}

/// The columns of an event for [`event`].
pub(crate) const EVENT: &str = "events.seq, sessions.id, events.at, events.body FROM events \
     JOIN sessions ON sessions.key = events.session";

/// The events about one entry within a range of positions. They stand close to where the entry began, so the range is
/// walked: an index over all events would cost every append more than it saves here.
pub(crate) const EVENTS_OF_ENTRY: &str = "WHERE events.session = ?1 AND events.entry = ?2 \
     AND events.seq >= ?3 AND events.seq <= ?4 ORDER BY events.seq";

/// An event from the columns [`EVENT`].
pub(crate) fn event(row: &SqlRow<'_>) -> Result<Event, RecordError> {
    let at = seq(row.get(0)?);
    let body: EventBody = from_json(
        &format!("event {at}"),
        row.get_ref(3)?.as_str().map_err(|e| damaged("event", &e))?,
    )?;
    Ok(Event {
        seq: at,
        session: SessionId(row.get(1)?),
        at: row.get(2)?,
        body,
    })
}

/// The statements that every batch needs many times, looked up once.
pub(crate) struct Statements<'c> {
    conn: &'c Connection,
    add_event: CachedStatement<'c>,
    add_entry: CachedStatement<'c>,
    set_entry: CachedStatement<'c>,
    add_folded: CachedStatement<'c>,
    set_folded: CachedStatement<'c>,
    add_words: CachedStatement<'c>,
    drop_words: CachedStatement<'c>,
    /// Room for one value's JSON after the other.
    buffer: Vec<u8>,
}

impl<'c> Statements<'c> {
    pub(crate) fn new(conn: &'c Connection) -> Result<Self, RecordError> {
        Ok(Self {
            conn,
            add_event: conn.prepare_cached("INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?,
            add_entry: conn.prepare_cached(
                "INSERT INTO entries VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) \
                 ON CONFLICT DO NOTHING",
            )?,
            set_entry: conn.prepare_cached(
                "UPDATE entries SET folded_to = ?2, indexed = ?3, state = ?4, mode = ?5, kind = ?6, tool = ?7, \
                 target = ?8, paths = ?9 WHERE seq = ?1",
            )?,
            add_folded: conn.prepare_cached("INSERT INTO folded VALUES (?1, ?2)")?,
            set_folded: conn.prepare_cached("UPDATE folded SET entry = ?2 WHERE seq = ?1")?,
            add_words: conn.prepare_cached("INSERT INTO words (rowid, text) VALUES (?1, ?2)")?,
            drop_words: conn.prepare_cached("DELETE FROM words WHERE rowid = ?1")?,
            buffer: Vec::with_capacity(16 * 1024),
        })
    }

    /// The connection, for what is needed seldom.
    pub(crate) fn conn(&self) -> &'c Connection {
        self.conn
    }

    /// Adds an event to the log.
    pub(crate) fn add_event(
        &mut self,
        event: &Event,
        session: i64,
        entry: Option<u64>,
    ) -> Result<(), RecordError> {
        self.add_event.execute(params![
            sql(event.seq),
            session,
            entry.map(sql),
            event.at,
            row::event_type(&event.body),
            json_in(&mut self.buffer, &event.body)?,
        ])?;
        Ok(())
    }

    /// Writes an entry's rows. Gives how the number of its session's waiting calls changes.
    pub(crate) fn store_entry(
        &mut self,
        session: i64,
        live: &mut LiveEntry,
    ) -> Result<i32, RecordError> {
        let seq = sql(live.entry.seq);
        let index = row::is_settled(&live.entry) || live.waits();
        let mut change = i32::from(live.waits()) - i32::from(live.row.waiting);
        if live.row.stored {
            self.update(live, index || live.row.indexed)?;
            let entry = json_in(&mut self.buffer, &live.entry)?;
            self.set_folded.execute(params![seq, entry])?;
        } else {
            if self.insert(session, live, index)? == 0 {
                change -= self.remove_namesake(session, &live.entry.id)?;
                self.insert(session, live, index)?;
            }
            let entry = json_in(&mut self.buffer, &live.entry)?;
            self.add_folded.execute(params![seq, entry])?;
        }
        if index {
            if live.row.indexed {
                self.drop_words.execute([seq])?;
            }
            self.add_words
                .execute(params![seq, text::search_text(&live.entry)])?;
        }
        store_undo(self.conn, live)?;
        live.row = Row {
            stored: true,
            waiting: live.waits(),
            indexed: index || live.row.indexed,
            undo_seq: live.row.undo_seq,
            lacks: Lacks::Nothing,
        };
        Ok(change)
    }

    fn insert(
        &mut self,
        session: i64,
        live: &LiveEntry,
        index: bool,
    ) -> Result<usize, RecordError> {
        let entry = &live.entry;
        let call = row::call(entry);
        Ok(self.add_entry.execute(params![
            sql(entry.seq),
            session,
            entry.id,
            entry.at,
            sql(live.folded_to),
            index,
            row::body_name(&entry.body),
            call.map(|view| view.state.as_str()),
            call.and_then(|view| view.mode).map(|mode| mode.as_str()),
            call.map(|view| row::kind_name(view.kind)),
            call.map(|view| view.tool.as_str()),
            call.map(|view| view.target.as_str()),
            call.map(row::paths),
        ])?)
    }

    fn update(&mut self, live: &LiveEntry, indexed: bool) -> Result<(), RecordError> {
        let call = row::call(&live.entry);
        self.set_entry.execute(params![
            sql(live.entry.seq),
            sql(live.folded_to),
            indexed,
            call.map(|view| view.state.as_str()),
            call.and_then(|view| view.mode).map(|mode| mode.as_str()),
            call.map(|view| row::kind_name(view.kind)),
            call.map(|view| view.tool.as_str()),
            call.map(|view| view.target.as_str()),
            call.map(row::paths),
        ])?;
        Ok(())
    }

    /// Removes the rows of an entry whose id was used again. Its events, and its undo entry, stay. Gives 1 if it
    /// waited.
    fn remove_namesake(&mut self, session: i64, id: &str) -> Result<i32, RecordError> {
        let (seq, state): (i64, Option<String>) = self
            .conn
            .prepare_cached(
                "DELETE FROM entries WHERE id = ?1 AND session = ?2 RETURNING seq, state",
            )?
            .query_row(params![id, session], |row| Ok((row.get(0)?, row.get(1)?)))?;
        self.conn
            .prepare_cached("DELETE FROM folded WHERE seq = ?1")?
            .execute([seq])?;
        self.drop_words.execute([seq])?;
        Ok(i32::from(state.as_deref() == Some("waiting")))
    }
}

/// A session from its row.
pub(crate) fn load_session(
    conn: &Connection,
    id: &SessionId,
) -> Result<Option<LiveSession>, RecordError> {
    let found: Option<(i64, Option<String>)> = conn
        .prepare_cached("SELECT key, view FROM sessions WHERE id = ?1")?
        .query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((key, view)) = found else {
        return Ok(None);
    };
    let waiting: i64 = conn
        .prepare_cached(
            "SELECT count(*) FROM entries INDEXED BY entries_waiting WHERE state = 'waiting' AND session = ?1",
        )?
        .query_row([key], |row| row.get(0))?;
    Ok(Some(LiveSession {
        key,
        view: view.map(|view| from_json("session", &view)).transpose()?,
        waiting: u32::try_from(waiting).unwrap_or(u32::MAX),
        changed: None,
    }))
}

/// A new session with its row.
pub(crate) fn add_session(
    conn: &Connection,
    id: &SessionId,
    at: u64,
) -> Result<LiveSession, RecordError> {
    conn.prepare_cached("INSERT INTO sessions (id, seq) VALUES (?1, ?2)")?
        .execute(params![id.as_str(), sql(at)])?;
    Ok(LiveSession {
        key: conn.last_insert_rowid(),
        view: None,
        waiting: 0,
        changed: None,
    })
}

/// Writes a session's row.
pub(crate) fn store_session(
    conn: &Connection,
    session: &LiveSession,
    at: u64,
) -> Result<(), RecordError> {
    let view = session.view.as_ref().map(json).transpose()?;
    conn.prepare_cached("UPDATE sessions SET seq = ?2, view = ?3 WHERE key = ?1")?
        .execute(params![session.key, sql(at), view])?;
    Ok(())
}

/// Folds into an entry the pieces that came after its row was written. Gives the last event that it then holds.
pub(crate) fn catch_up(
    conn: &Connection,
    session: i64,
    mut entry: Entry,
    folded_to: u64,
) -> Result<(Entry, u64), RecordError> {
    let mut statement = conn.prepare_cached(&format!("SELECT {EVENT} {EVENTS_OF_ENTRY}"))?;
    let after = sql(folded_to.saturating_add(1));
    let mut rows = statement.query([session, sql(entry.seq), after, i64::MAX])?;
    let mut to = folded_to;
    while let Some(row) = rows.next()? {
        let event = event(row)?;
        to = event.seq;
        match protocol::fold::entry(Some(entry), &event) {
            Some(next) => entry = next,
            None => return Err(damaged("entry", &"an event ends it")),
        }
    }
    Ok((entry, to))
}

/// An entry from its rows and the events after them.
pub(crate) fn load_entry(
    conn: &Connection,
    session: i64,
    session_id: &SessionId,
    id: &str,
) -> Result<Option<LiveEntry>, RecordError> {
    let found = conn
        .prepare_cached(
            "SELECT entries.folded_to, entries.indexed, folded.entry, undo_entries.seq \
             FROM entries JOIN folded ON folded.seq = entries.seq \
             LEFT JOIN undo_entries ON undo_entries.call = entries.seq \
             WHERE entries.id = ?1 AND entries.session = ?2",
        )?
        .query_row(params![id, session], |row| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, bool>(1)?,
                row.get::<_, String>(2)?,
                row.get::<_, Option<i64>>(3)?,
            ))
        })
        .optional()?;
    let Some((folded_to, indexed, entry, undo)) = found else {
        return Ok(None);
    };
    let (entry, to) = catch_up(conn, session, from_json("entry", &entry)?, seq(folded_to))?;
    let mut live = LiveEntry {
        entry,
        session: session_id.clone(),
        folded_to: to,
        touched: false,
        row: Row {
            stored: true,
            waiting: false,
            indexed,
            undo_seq: undo.map(seq),
            lacks: if to == seq(folded_to) {
                Lacks::Nothing
            } else {
                Lacks::Pieces(0, 0)
            },
        },
    };
    live.row.waiting = live.waits();
    Ok(Some(live))
}

/// Keeps the undo list what the folded calls say.
fn store_undo(conn: &Connection, live: &mut LiveEntry) -> Result<(), RecordError> {
    let Some(prepared) = live.row.undo_seq else {
        return Ok(());
    };
    let undo = row::call(&live.entry).and_then(|view| view.undo.as_ref());
    if let Some(undo) = undo {
        conn.prepare_cached("INSERT OR REPLACE INTO undo_entries VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![
                sql(prepared),
                sql(live.entry.seq),
                undo.id.as_str(),
                json(undo)?
            ])?;
    } else {
        conn.prepare_cached("DELETE FROM undo_entries WHERE call = ?1")?
            .execute([sql(live.entry.seq)])?;
        live.row.undo_seq = None;
    }
    Ok(())
}
