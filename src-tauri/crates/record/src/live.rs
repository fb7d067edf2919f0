//! What the writer keeps folded in memory, so that a call with many events is read once and written once.

use std::collections::HashMap;

use protocol::{CallState, Entry, Event, SessionId, entry::SessionView, fold};
use rusqlite::Connection;

use crate::limits::{LIVE_ENTRIES_MAX, LIVE_SESSIONS_MAX, PIECES_BYTES_MAX, PIECES_MAX};
use crate::store::Statements;
use crate::{RecordError, row, store};

/// A session as it is after the last event.
pub(crate) struct LiveSession {
    /// Its key in the tables.
    pub(crate) key: i64,
    /// None for a session that has events but was never opened.
    pub(crate) view: Option<SessionView>,
    /// Calls that stand on the desk, as stored.
    pub(crate) waiting: u32,
    /// The last event about it, if that is not stored yet.
    pub(crate) changed: Option<u64>,
}

/// An entry as it is after the last event.
pub(crate) struct LiveEntry {
    pub(crate) entry: Entry,
    /// The session, for the count of its waiting calls.
    pub(crate) session: SessionId,
    /// The last event that `entry` holds.
    pub(crate) folded_to: u64,
    /// Whether this batch changed it.
    pub(crate) touched: bool,
    /// Its row.
    pub(crate) row: Row,
}

/// What is known of an entry's row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// Whether there is one.
    pub(crate) stored: bool,
    /// Whether it says that the entry waits.
    pub(crate) waiting: bool,
    /// Whether the full-text index has it.
    pub(crate) indexed: bool,
    /// The event that prepared its undo entry, if it has one.
    pub(crate) undo_seq: Option<u64>,
    /// What it lacks.
    pub(crate) lacks: Lacks,
}

impl Row {
    const NONE: Self = Self {
        stored: false,
        waiting: false,
        indexed: false,
        undo_seq: None,
        lacks: Lacks::More,
    };
}

/// What a row lacks of the entry in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lacks {
    /// Nothing.
    Nothing,
    /// Streamed pieces only: how many, and how many bytes. A reader folds them in from the events.
    Pieces(usize, usize),
    /// More than that.
    More,
}

impl LiveEntry {
    pub(crate) fn waits(&self) -> bool {
        row::call(&self.entry).is_some_and(|view| view.state == CallState::Waiting)
    }

    /// Whether the row must be written now.
    pub(crate) fn is_due(&self) -> bool {
        match self.row.lacks {
            Lacks::Nothing => false,
            Lacks::Pieces(count, bytes) => count >= PIECES_MAX || bytes >= PIECES_BYTES_MAX,
            Lacks::More => true,
        }
    }
}

/// Entries by session key and id.
type EntryKey = (i64, String);

/// Sessions and entries in memory. Everything in it can be read again from the tables.
#[derive(Default)]
pub(crate) struct Live {
    sessions: HashMap<SessionId, LiveSession>,
    entries: HashMap<EntryKey, LiveEntry>,
    /// Entries that this batch changed.
    touched: Vec<EntryKey>,
}

impl Live {
    /// Forgets everything: the tables are not what was expected.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Folds one event in. Gives the key of its session and the key of its entry, if it is about one.
    pub(crate) fn fold(
        &mut self,
        conn: &Connection,
        event: &Event,
    ) -> Result<(i64, Option<u64>), RecordError> {
        // Looked up by reference: nearly every event is about a session that is known.
        let session = match self.sessions.get_mut(&event.session) {
            Some(session) => session,
            None => {
                let session = match store::load_session(conn, &event.session)? {
                    Some(session) => session,
                    None => store::add_session(conn, &event.session, event.seq)?,
                };
                self.sessions
                    .entry(event.session.clone())
                    .or_insert(session)
            }
        };
        session.view = fold::session(session.view.take(), event, session.waiting);
        session.changed = Some(event.seq);
        let key = session.key;
        let entry = self.fold_entry(conn, key, event)?;
        Ok((key, entry))
    }

    fn fold_entry(
        &mut self,
        conn: &Connection,
        session: i64,
        event: &Event,
    ) -> Result<Option<u64>, RecordError> {
        let Some(id) = fold::entry_id(event) else {
            return Ok(None);
        };
        let key = (session, id);
        let mut known = self.entries.remove(&key);
        if known.is_none() && !row::begins(event) {
            known = store::load_entry(conn, session, &event.session, &key.1)?;
        }
        let touched = known.as_ref().is_some_and(|live| live.touched);
        let (before, row) = known.map_or((None, Row::NONE), |live| (Some(live.entry), live.row));
        let began = before.as_ref().map(|entry| entry.seq);
        let Some(entry) = fold::entry(before, event) else {
            return Ok(None);
        };
        // An id that is used again begins another entry, which takes the place of the first when it is stored.
        let mut row = if began == Some(entry.seq) {
            row
        } else {
            Row::NONE
        };
        // A settled entry is read without a look at the log, so its row must always hold everything.
        let piece = row::piece_bytes(event).filter(|_| !row::is_settled(&entry));
        row.lacks = match (row.lacks, piece) {
            (Lacks::Nothing, Some(bytes)) => Lacks::Pieces(1, bytes),
            (Lacks::Pieces(count, sum), Some(bytes)) => Lacks::Pieces(count + 1, sum + bytes),
            (Lacks::More, Some(_)) | (_, None) => Lacks::More,
        };
        if row::prepares_undo(event) {
            row.undo_seq = Some(event.seq);
        }
        let seq = entry.seq;
        let live = LiveEntry {
            entry,
            session: event.session.clone(),
            folded_to: event.seq,
            touched: true,
            row,
        };
        if !touched {
            self.touched.push(key.clone());
        }
        self.entries.insert(key, live);
        Ok(Some(seq))
    }

    /// Writes what this batch changed: every entry once, then the sessions.
    pub(crate) fn store(&mut self, rows: &mut Statements<'_>) -> Result<(), RecordError> {
        for key in std::mem::take(&mut self.touched) {
            let Some(live) = self.entries.get_mut(&key) else {
                continue;
            };
            live.touched = false;
            if live.is_due() {
                let change = rows.store_entry(key.0, live)?;
                if let Some(session) = self.sessions.get_mut(&live.session) {
                    session.waiting = session.waiting.saturating_add_signed(change);
                }
            }
        }
        for session in self.sessions.values_mut() {
            if let Some(seq) = session.changed.take() {
                if let Some(view) = &mut session.view {
                    view.waiting = session.waiting;
                }
                store::store_session(rows.conn(), session, seq)?;
            }
        }
        Ok(())
    }

    /// Forgets what will hardly change again.
    pub(crate) fn trim(&mut self) {
        self.entries
            .retain(|_, live| live.row.lacks != Lacks::Nothing || !row::is_settled(&live.entry));
        if self.entries.len() > LIVE_ENTRIES_MAX {
            self.entries.clear();
        }
        if self.sessions.len() > LIVE_SESSIONS_MAX {
            self.sessions.clear();
        }
    }
}
