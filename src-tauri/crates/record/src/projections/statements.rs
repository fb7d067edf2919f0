//! The rows of sessions, events, entries, undo entries and the full-text index, written within one batch.

use protocol::SessionId;
use rusqlite::{CachedStatement, Connection, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::RecordError;
use crate::error::damaged_value_error;
use crate::projections::columns;
use crate::projections::columns::IndexState;
use crate::projections::deferred_projection::SettledEntry;
use crate::projections::live_cache::{LiveEntry, LiveSession, RowGap, RowState};
use crate::projections::load::NOT_FOLDED_SEQ;
use crate::projections::search_text;

/// A value as stored JSON.
pub(crate) fn to_json(value: &impl Serialize) -> Result<String, RecordError> {
    serde_json::to_string(value).map_err(|e| RecordError::Serialize(std::sync::Arc::new(e)))
}

/// A value as stored JSON in a buffer that is used again, for the writer's many small values.
fn to_json_in<'b>(buffer: &'b mut Vec<u8>, value: &impl Serialize) -> Result<&'b str, RecordError> {
    buffer.clear();
    write_json(buffer, value)?;
    std::str::from_utf8(buffer).map_err(|e| damaged_value_error("an entry's JSON", &e))
}

/// Adds a value as stored JSON to a buffer.
pub(crate) fn write_json(buffer: &mut Vec<u8>, value: &impl Serialize) -> Result<(), RecordError> {
    serde_json::to_writer(JsonWriter(buffer), value)
        .map_err(|e| RecordError::Serialize(std::sync::Arc::new(e)))
}

/// A buffer that takes quotes, colons and commas one at a time, as JSON is written, without a call to copy each.
struct JsonWriter<'b>(&'b mut Vec<u8>);

impl std::io::Write for JsonWriter<'_> {
    #[inline]
    fn write(&mut self, piece: &[u8]) -> std::io::Result<usize> {
        self.write_all(piece)?;
        Ok(piece.len())
    }

    #[inline]
    fn write_all(&mut self, piece: &[u8]) -> std::io::Result<()> {
        match piece {
            [one] => self.0.push(*one),
            more => self.0.extend_from_slice(more),
        }
        Ok(())
    }

    #[inline]
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Stored JSON as a value.
pub(crate) fn from_json<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, RecordError> {
    serde_json::from_str(text).map_err(|error| damaged_value_error(what, &error))
}

/// A position as SQLite stores it. Positions count single events from 1 and never come near the limit.
pub(crate) fn seq_to_sql(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

/// A position as it was stored.
pub(crate) fn seq_from_sql(stored: i64) -> u64 {
    u64::try_from(stored).unwrap_or(0)
}

/// The statements that every batch needs many times, looked up once.
pub(crate) struct PreparedStatements<'c> {
    conn: &'c Connection,
    add_entry: CachedStatement<'c>,
    set_entry: CachedStatement<'c>,
    complete_entry: CachedStatement<'c>,
    add_folded: CachedStatement<'c>,
    set_folded: CachedStatement<'c>,
    add_words: CachedStatement<'c>,
    drop_words: CachedStatement<'c>,
    /// Room for one value's JSON after the other.
    buffer: Vec<u8>,
}

impl<'c> PreparedStatements<'c> {
    pub(crate) fn new(conn: &'c Connection) -> Result<Self, RecordError> {
        Ok(Self {
            conn,
            add_entry: conn.prepare_cached(
                "INSERT INTO entries VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) \
                 ON CONFLICT DO NOTHING",
            )?,
            set_entry: conn.prepare_cached(
                "UPDATE entries SET folded_to = ?2, indexed = ?3, state = ?4, mode = ?5, kind = ?6, tool = ?7, \
                 target = ?8, paths = ?9 WHERE seq = ?1",
            )?,
            complete_entry: conn.prepare_cached(
                "UPDATE entries SET indexed = 1 WHERE seq = ?1 AND folded_to = ?2 AND indexed = 2",
            )?,
            add_folded: conn.prepare_cached("INSERT INTO folded VALUES (?1, ?2)")?,
            set_folded: conn.prepare_cached("UPDATE folded SET entry = ?2 WHERE seq = ?1")?,
            add_words: conn.prepare_cached("INSERT INTO words (rowid, text) VALUES (?1, ?2)")?,
            drop_words: conn.prepare_cached("DELETE FROM words WHERE rowid = ?1")?,
            buffer: Vec::with_capacity(16 * 1024),
        })
    }

    /// The connection, for what is needed seldom.
    pub(crate) fn connection(&self) -> &'c Connection {
        self.conn
    }

    /// Writes an entry's rows, but defers what may be written `late`. Returns the change in the number of the session's
    /// waiting calls.
    pub(crate) fn store_entry(
        &mut self,
        session: i64,
        live: &mut LiveEntry,
        late: bool,
    ) -> Result<i32, RecordError> {
        let seq = seq_to_sql(live.entry.seq);
        let index = !late && (columns::is_entry_settled(&live.entry) || live.is_waiting());
        let indexed = match (late, index) {
            (true, _) => IndexState::Deferred,
            (false, true) => IndexState::Yes,
            (false, false) if live.row.indexed == IndexState::Yes => IndexState::Yes,
            (false, false) => IndexState::No,
        };
        // An entry that just began soon changes again: until it settles or waits, its few events say the same as its
        // JSON would.
        let fold = !late && (index || live.row.folded || live.row.row_gap != RowGap::More);
        let folded_to = match fold || late {
            true => live.folded_to,
            false => NOT_FOLDED_SEQ,
        };
        let mut change = i32::from(live.is_waiting()) - i32::from(live.row.waiting);
        if live.row.stored {
            self.update_entry(live, folded_to, indexed)?;
        } else if self.insert_entry(session, live, folded_to, indexed)? == 0 {
            change -= self.remove_reused_id(session, &live.entry.id)?;
            self.insert_entry(session, live, folded_to, indexed)?;
        }
        if fold {
            let entry = to_json_in(&mut self.buffer, &live.entry)?;
            match live.row.folded {
                true => self.set_folded.execute(params![seq, entry])?,
                false => self.add_folded.execute(params![seq, entry])?,
            };
        }
        if index {
            if live.row.indexed == IndexState::Yes {
                self.drop_words.execute([seq])?;
            }
            self.add_words
                .execute(params![seq, search_text::entry_search_text(&live.entry)])?;
        }
        store_undo_entry(self.conn, live)?;
        live.row = RowState {
            stored: true,
            folded: fold,
            waiting: live.is_waiting(),
            indexed,
            undo_seq: live.row.undo_seq,
            row_gap: match fold || late {
                true => RowGap::Nothing,
                false => RowGap::Pieces(0, 0),
            },
        };
        Ok(change)
    }

    /// Does the deferred writes of an entry, unless the entry changed since or another process was faster.
    pub(crate) fn store_deferred(&mut self, settled: &SettledEntry) -> Result<(), RecordError> {
        let seq = seq_to_sql(settled.entry.seq);
        let row = params![seq, seq_to_sql(settled.folded_to)];
        if self.complete_entry.execute(row)? > 0 {
            let entry = to_json_in(&mut self.buffer, &settled.entry)?;
            self.add_folded.execute(params![seq, entry])?;
            let words = search_text::entry_search_text(&settled.entry);
            self.add_words.execute(params![seq, words])?;
        }
        Ok(())
    }

    fn insert_entry(
        &mut self,
        session: i64,
        live: &LiveEntry,
        folded_to: u64,
        indexed: IndexState,
    ) -> Result<usize, RecordError> {
        let entry = &live.entry;
        let call = columns::call_of_entry(entry);
        Ok(self.add_entry.execute(params![
            seq_to_sql(entry.seq),
            session,
            entry.id,
            entry.at,
            seq_to_sql(folded_to),
            indexed.to_sql(),
            columns::entry_body_name(&entry.body),
            call.map(|view| view.state.as_str()),
            call.and_then(|view| view.mode).map(|mode| mode.as_str()),
            call.map(|view| columns::tool_kind_name(view.kind)),
            call.map(|view| view.tool.as_str()),
            call.map(|view| view.target.as_str()),
            call.map(columns::call_paths),
        ])?)
    }

    fn update_entry(
        &mut self,
        live: &LiveEntry,
        folded_to: u64,
        indexed: IndexState,
    ) -> Result<(), RecordError> {
        let call = columns::call_of_entry(&live.entry);
        self.set_entry.execute(params![
            seq_to_sql(live.entry.seq),
            seq_to_sql(folded_to),
            indexed.to_sql(),
            call.map(|view| view.state.as_str()),
            call.and_then(|view| view.mode).map(|mode| mode.as_str()),
            call.map(|view| columns::tool_kind_name(view.kind)),
            call.map(|view| view.tool.as_str()),
            call.map(|view| view.target.as_str()),
            call.map(columns::call_paths),
        ])?;
        Ok(())
    }

    /// Removes the rows of an entry whose id was used again. Its events, and its undo entry, stay. Returns 1 if the
    /// entry waited.
    fn remove_reused_id(&mut self, session: i64, id: &str) -> Result<i32, RecordError> {
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

/// Adds a session's row, of which only its events are known yet; gives its key.
pub(crate) fn insert_session(
    conn: &Connection,
    id: &SessionId,
    at: u64,
) -> Result<i64, RecordError> {
    conn.prepare_cached("INSERT INTO sessions (id, seq) VALUES (?1, ?2)")?
        .execute(params![id.as_str(), seq_to_sql(at)])?;
    Ok(conn.last_insert_rowid())
}

/// Writes between which positions a batch has events about a session.
pub(crate) fn insert_span(
    conn: &Connection,
    session: i64,
    first: u64,
    last: u64,
) -> Result<(), RecordError> {
    conn.prepare_cached("INSERT INTO spans (session, last, first) VALUES (?1, ?2, ?3)")?
        .execute(params![session, seq_to_sql(last), seq_to_sql(first)])?;
    Ok(())
}

/// Writes a session's row, whose last event is known.
pub(crate) fn store_session(
    conn: &Connection,
    session: &LiveSession,
    last: u64,
) -> Result<(), RecordError> {
    let view = session.view.as_ref().map(to_json).transpose()?;
    conn.prepare_cached("UPDATE sessions SET seq = ?2, view = ?3 WHERE key = ?1")?
        .execute(params![session.key, seq_to_sql(last), view])?;
    Ok(())
}

/// Updates the undo list from a folded call.
pub(crate) fn store_undo_entry(conn: &Connection, live: &mut LiveEntry) -> Result<(), RecordError> {
    let Some(prepared) = live.row.undo_seq else {
        return Ok(());
    };
    let undo = columns::call_of_entry(&live.entry).and_then(|view| view.undo.as_ref());
    if let Some(undo) = undo {
        conn.prepare_cached("INSERT OR REPLACE INTO undo_entries VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![
                seq_to_sql(prepared),
                seq_to_sql(live.entry.seq),
                undo.id.as_str(),
                to_json(undo)?
            ])?;
    } else {
        conn.prepare_cached("DELETE FROM undo_entries WHERE call = ?1")?
            .execute([seq_to_sql(live.entry.seq)])?;
        live.row.undo_seq = None;
    }
    Ok(())
}
