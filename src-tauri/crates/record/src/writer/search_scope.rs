//! The keys in the log's rows: of each event its session's and its entry's, known without reading the projections.

use std::collections::HashMap;

// Every event is looked up by two ids, and nobody who chooses ids sees the seed.
use foldhash::fast::RandomState;
use protocol::event::fold;
use protocol::{Event, SessionId};
use rusqlite::{Connection, OptionalExtension, params};

use crate::RecordError;
use crate::limits::LIVE_SESSIONS_MAX;
use crate::projections::statements;
use crate::projections::statements::seq_from_sql;

/// The writer's keys of sessions and entries. As long as some events are not projected, it holds every entry that those
/// events began; other entries may be missing, and are looked up.
#[derive(Default)]
pub(crate) struct EntryKeys {
    sessions: HashMap<SessionId, SessionKeys, RandomState>,
}

/// The keys of one session.
struct SessionKeys {
    key: i64,
    /// The keys of the session's entries, by their ids.
    entries: HashMap<String, u64, RandomState>,
    /// The first and the last event of the session in this batch, if there is any.
    span: Option<(u64, u64)>,
}

impl EntryKeys {
    /// Returns the key of an event's session, whose row is added if there is none, and of the entry that the event
    /// begins or changes, if it does.
    pub(crate) fn keys_for(
        &mut self,
        conn: &Connection,
        event: &Event,
    ) -> Result<(i64, Option<u64>), RecordError> {
        // Looked up by reference: nearly every event is about a session that is known.
        let place = match self.sessions.get_mut(&event.session) {
            Some(place) => place,
            None => {
                let place = SessionKeys {
                    key: session_key(conn, event)?,
                    entries: HashMap::default(),
                    span: None,
                };
                self.sessions.entry(event.session.clone()).or_insert(place)
            }
        };
        let first = place.span.map_or(event.seq, |(first, _)| first);
        place.span = Some((first, event.seq));
        let Some(id) = fold::entry_id(event) else {
            return Ok((place.key, None));
        };
        if fold::begins_entry(event) {
            place.entries.insert(id.into_owned(), event.seq);
            return Ok((place.key, Some(event.seq)));
        }
        if let Some(entry) = place.entries.get(&*id) {
            return Ok((place.key, Some(*entry)));
        }
        let seq: Option<i64> = conn
            .prepare_cached("SELECT seq FROM entries WHERE id = ?1 AND session = ?2")?
            .query_row(params![id, place.key], |row| row.get(0))
            .optional()?;
        let seq = seq.map(seq_from_sql);
        if let Some(entry) = seq {
            place.entries.insert(id.into_owned(), entry);
        }
        Ok((place.key, seq))
    }

    /// Writes the range of positions in which the batch that ends here has events of each session.
    pub(crate) fn store_spans(&mut self, conn: &Connection) -> Result<(), RecordError> {
        for place in self.sessions.values_mut() {
            if let Some((first, last)) = place.span.take() {
                statements::insert_span(conn, place.key, first, last)?;
            }
        }
        Ok(())
    }

    /// Forgets the entries: all events that began them are projected.
    pub(crate) fn forget_entries(&mut self) {
        if self.sessions.len() > LIVE_SESSIONS_MAX {
            self.sessions.clear();
        }
        for place in self.sessions.values_mut() {
            place.entries.clear();
        }
    }
}

/// The key of an event's session.
fn session_key(conn: &Connection, event: &Event) -> Result<i64, RecordError> {
    let stored_key: Option<i64> = conn
        .prepare_cached("SELECT key FROM sessions WHERE id = ?1")?
        .query_row([event.session.as_str()], |row| row.get(0))
        .optional()?;
    match stored_key {
        Some(key) => Ok(key),
        None => statements::insert_session(conn, &event.session, event.seq),
    }
}
