//! The writer's cache of folded entries, so that a call with many events is read once and written once.

use std::collections::HashMap;

// Every event is looked up by two ids, and nobody who chooses ids sees the seed.
use foldhash::fast::RandomState;
use protocol::event::fold;
use protocol::view::entry::SessionView;
use protocol::{CallState, Entry, Event, SessionId};
use rusqlite::Connection;

use crate::RecordError;
use crate::limits::{LIVE_ENTRIES_MAX, LIVE_SESSIONS_MAX, PIECES_BYTES_MAX, PIECES_MAX};
use crate::projections::columns::IndexState;
use crate::projections::deferred_projection::DeferredProjection;
use crate::projections::load;
use crate::projections::statements::PreparedStatements;
use crate::projections::{columns, statements};

/// A session as of its last event.
pub(crate) struct LiveSession {
    /// Its key in the tables.
    pub(crate) key: i64,
    /// View of the session; none if it has events but was never opened.
    pub(crate) view: Option<SessionView>,
    /// Number of waiting calls, as stored.
    pub(crate) waiting: u32,
    /// The last event of the session in this batch, if there is any.
    pub(crate) changed: Option<u64>,
    /// Entries of the session that may still change, by their ids.
    pub(crate) entries: HashMap<String, LiveEntry, RandomState>,
    /// Ids of the entries that this batch changed, in its order.
    pub(crate) touched: Vec<String>,
}

/// An entry as of its last event.
pub(crate) struct LiveEntry {
    pub(crate) entry: Entry,
    /// The last event folded into `entry`.
    pub(crate) folded_to: u64,
    /// Bytes of the events folded into `entry`.
    pub(crate) bytes: usize,
    /// Whether this batch changed the entry.
    pub(crate) touched: bool,
    /// Row of the entry.
    pub(crate) row: RowState,
}

/// The state of an entry's row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowState {
    /// Whether the row exists.
    pub(crate) stored: bool,
    /// Whether the table `folded` holds the entry; else the entry is read from its events.
    pub(crate) folded: bool,
    /// Whether the row says that the entry waits.
    pub(crate) waiting: bool,
    /// State of the entry in the full-text index.
    pub(crate) indexed: IndexState,
    /// The event that prepared the entry's undo entry, if it has one.
    pub(crate) undo_seq: Option<u64>,
    /// Changes of the entry in memory that the row lacks.
    pub(crate) row_gap: RowGap,
}

impl RowState {
    const NONE: Self = Self {
        stored: false,
        folded: false,
        waiting: false,
        indexed: IndexState::No,
        undo_seq: None,
        row_gap: RowGap::More,
    };
}

/// The changes of an entry in memory that its row lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowGap {
    /// Nothing.
    Nothing,
    /// Streamed pieces only, since the row was written: how many, and how many bytes. A reader folds them in from the
    /// events.
    Pieces(usize, usize),
    /// More than that.
    More,
}

impl LiveEntry {
    /// Folds one event in.
    fn apply_event(&mut self, event: &Event) {
        fold::apply_event(&mut self.entry, event);
        self.folded_to = event.seq;
        // A settled entry is read without a look at the log, so its row must always hold everything.
        let piece = columns::streamed_piece_bytes(event)
            .filter(|_| !columns::is_entry_settled(&self.entry));
        self.row.row_gap = match (self.row.row_gap, piece) {
            (RowGap::Nothing, Some(bytes)) => RowGap::Pieces(1, bytes),
            (RowGap::Pieces(count, sum), Some(bytes)) => RowGap::Pieces(count + 1, sum + bytes),
            (RowGap::More, Some(_)) | (_, None) => RowGap::More,
        };
        if columns::is_undo_prepared(event) {
            self.row.undo_seq = Some(event.seq);
        }
    }

    pub(crate) fn is_waiting(&self) -> bool {
        columns::call_of_entry(&self.entry).is_some_and(|view| view.state == CallState::Waiting)
    }

    /// Whether the row must be written now.
    pub(crate) fn is_due(&self) -> bool {
        match self.row.row_gap {
            RowGap::Nothing => false,
            RowGap::Pieces(count, bytes) => count >= PIECES_MAX || bytes >= PIECES_BYTES_MAX,
            RowGap::More => true,
        }
    }
}

impl LiveSession {
    /// Creates a session of which only the key is known.
    pub(crate) fn new(key: i64) -> Self {
        Self {
            key,
            view: None,
            waiting: 0,
            changed: None,
            entries: HashMap::default(),
            touched: Vec::new(),
        }
    }

    /// Folds one event, stored in so many bytes, into the entry that it is about. Returns the entry's key; none if the
    /// event is about no entry.
    fn fold_entry(
        &mut self,
        conn: &Connection,
        event: &Event,
        bytes: usize,
    ) -> Result<Option<u64>, RecordError> {
        let Some(id) = fold::entry_id(event) else {
            return Ok(None);
        };
        let live = if let Some(entry) = fold::begin_entry(event) {
            // An id that is used again begins another entry, which takes the place of the first when it is stored. What the
            // first prepared for undo stays, as it is by then.
            let mut previous = self.entries.get_mut(&*id);
            if let Some(previous) = &mut previous {
                statements::store_undo_entry(conn, previous)?;
            }
            let live = LiveEntry {
                entry,
                folded_to: event.seq,
                bytes: 0,
                touched: previous.is_some_and(|previous| previous.touched),
                row: RowState::NONE,
            };
            let place = self.entries.entry(id.clone().into_owned());
            place.insert_entry(live).into_mut()
        } else {
            if !self.entries.contains_key(&*id) {
                let Some(live) = load::load_entry(conn, self.key, &id)? else {
                    return Ok(None);
                };
                self.entries.insert(id.clone().into_owned(), live);
            }
            let Some(live) = self.entries.get_mut(&*id) else {
                return Ok(None);
            };
            live.apply_event(event);
            live
        };
        if !std::mem::replace(&mut live.touched, true) {
            self.touched.push(id.into_owned());
        }
        live.bytes += bytes;
        Ok(Some(live.entry.seq))
    }

    /// Writes the entries that this batch changed, each once, and evicts those that will hardly change again; writes
    /// that `late` accepts are deferred.
    fn store_entries(
        &mut self,
        rows: &mut PreparedStatements<'_>,
        late: &mut DeferredProjection,
    ) -> Result<(), RecordError> {
        for id in std::mem::take(&mut self.touched) {
            let Some(live) = self.entries.get_mut(&id) else {
                continue;
            };
            live.touched = false;
            if live.is_due() {
                let change = rows.store_entry(self.key, live, late.can_defer(live))?;
                self.waiting = self.waiting.saturating_add_signed(change);
            }
            if live.row.row_gap == RowGap::Nothing && columns::is_entry_settled(&live.entry) {
                let settled = self.entries.remove(&id);
                if let Some(owed) = settled.filter(|live| live.row.indexed == IndexState::Deferred)
                {
                    late.defer_entry(owed);
                }
            }
        }
        Ok(())
    }
}

/// Sessions and their entries in memory. Everything in it can be read again from the tables.
#[derive(Default)]
pub(crate) struct LiveCache {
    sessions: HashMap<SessionId, LiveSession, RandomState>,
    /// Deferred writes to the tables.
    pub(crate) deferred: DeferredProjection,
}

impl LiveCache {
    /// Clears the cache: the tables are not as expected.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Folds one event, stored in so many bytes. Returns the key of its session, and the key of its entry if the event
    /// is about one.
    pub(crate) fn fold_event(
        &mut self,
        conn: &Connection,
        event: &Event,
        bytes: usize,
    ) -> Result<(i64, Option<u64>), RecordError> {
        // Looked up by reference: nearly every event is about a session that is known.
        let session = match self.sessions.get_mut(&event.session) {
            Some(session) => session,
            None => {
                let session = match load::load_session(conn, &event.session)? {
                    Some(session) => session,
                    None => LiveSession::new(statements::insert_session(
                        conn,
                        &event.session,
                        event.seq,
                    )?),
                };
                self.sessions
                    .entry(event.session.clone())
                    .or_insert(session)
            }
        };
        session.view = fold::fold_session(session.view.take(), event, session.waiting);
        session.changed = Some(event.seq);
        let entry = session.fold_entry(conn, event, bytes)?;
        Ok((session.key, entry))
    }

    /// Writes the changes of this batch: for each session its entries, then its own row.
    pub(crate) fn store_changes(
        &mut self,
        rows: &mut PreparedStatements<'_>,
    ) -> Result<(), RecordError> {
        for session in self.sessions.values_mut() {
            if let Some(last) = session.changed.take() {
                session.store_entries(rows, &mut self.deferred)?;
                if let Some(view) = &mut session.view {
                    view.waiting = session.waiting;
                }
                statements::store_session(rows.connection(), session, last)?;
            }
        }
        Ok(())
    }

    /// Evicts sessions and entries that would fill the memory.
    pub(crate) fn evict_settled(&mut self) {
        let entries: usize = self.sessions.values().map(|s| s.entries.len()).sum();
        if entries > LIVE_ENTRIES_MAX || self.sessions.len() > LIVE_SESSIONS_MAX {
            self.sessions.clear();
        }
    }
}
