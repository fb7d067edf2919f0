//! Deferred writes: the JSON and the words of entries that settled in one go, which their events hold already.
//!
//! A call that nobody had to decide settles in a moment, and a burst of such calls should wait for nothing but its
//! events. So their narrow rows say that the rest is deferred ([`IndexState::Deferred`]), and the writer
//! writes the rest when it has no other work, and before it closes. No reader depends on that: each row names the last
//! event of its entry, and a search reads entries with deferred rows from their events.

use std::collections::{BTreeMap, VecDeque};

use protocol::Entry;
use protocol::event::fold;
use rusqlite::{Connection, params};

use crate::RecordError;
use crate::limits::{
    DEFERRED_BYTES_MAX, DEFERRED_ENTRIES_MAX, DEFERRED_SLICE_MAX, DEFERRED_SPAN_MAX,
};
use crate::projections::columns;
use crate::projections::columns::IndexState;
use crate::projections::live_cache::LiveEntry;
use crate::projections::load;
use crate::projections::statements::{PreparedStatements, seq_from_sql, seq_to_sql};

/// The rows with deferred writes, oldest first.
const DEFERRED_ROWS: &str =
    "FROM entries INDEXED BY entries_late WHERE indexed = 2 ORDER BY seq LIMIT ?1";

/// The columns of an event, as `load` reads them, and the entry's key, from the events of those rows.
const EVENTS_OF_DEFERRED: &str = "events.seq, sessions.id, events.at, events.body, events.entry FROM events \
     JOIN sessions ON sessions.key = events.session WHERE events.seq BETWEEN ?2 AND ?3 AND events.entry IN \
     (SELECT seq FROM entries INDEXED BY entries_late WHERE indexed = 2 ORDER BY seq LIMIT ?1) ORDER BY events.seq";

/// An entry whose JSON and words are not written yet.
pub(crate) struct SettledEntry {
    pub(crate) entry: Entry,
    /// Last event of the entry. Another number in the row says that the entry changed since.
    pub(crate) folded_to: u64,
    /// Length of its events.
    bytes: usize,
}

/// Entries with deferred writes, kept in memory as far as there is room, so that they need not be read again.
pub(crate) struct DeferredProjection {
    buffered: VecDeque<SettledEntry>,
    bytes: usize,
    /// Whether the tables may hold deferred rows that are not in memory: an earlier or another process left them.
    more: bool,
}

impl Default for DeferredProjection {
    fn default() -> Self {
        Self {
            buffered: VecDeque::new(),
            bytes: 0,
            more: true,
        }
    }
}

impl DeferredProjection {
    /// Whether there may be something to do.
    pub(crate) fn has_work(&self) -> bool {
        self.more || !self.buffered.is_empty()
    }

    /// Whether an entry's JSON and words may be written late: if the entry settled without a person and without a copy
    /// for undo, if a reader finds its events close together, and if not too much is deferred already.
    pub(crate) fn can_defer(&self, live: &LiveEntry) -> bool {
        let row = &live.row;
        columns::is_entry_settled(&live.entry)
            && !row.folded
            && row.indexed != IndexState::Yes
            && row.undo_seq.is_none()
            && live.folded_to - live.entry.seq < DEFERRED_SPAN_MAX
            && self.buffered.len() < DEFERRED_ENTRIES_MAX
            && self.bytes + live.bytes <= DEFERRED_BYTES_MAX
    }

    /// Keeps an entry for which [`DeferredProjection::can_defer`] is true.
    pub(crate) fn defer_entry(&mut self, live: LiveEntry) {
        self.bytes += live.bytes;
        self.buffered.push_back(SettledEntry {
            entry: live.entry,
            folded_to: live.folded_to,
            bytes: live.bytes,
        });
    }

    /// Does deferred writes of some rows, within a transaction: at least one and at most a slice of them. Stops when
    /// `asked` says that the writer has a request.
    pub(crate) fn write_deferred(
        &mut self,
        tx: &Connection,
        has_query: impl Fn() -> bool,
    ) -> Result<(), RecordError> {
        if self.buffered.is_empty() {
            self.buffered = load_deferred_entries(tx, DEFERRED_SLICE_MAX)?.into();
            self.bytes = self.buffered.iter().map(|settled| settled.bytes).sum();
            self.more = !self.buffered.is_empty();
        }
        // The full-text index writes itself out whenever a key is smaller than the one before.
        let entries = self.buffered.make_contiguous();
        entries.sort_by_key(|settled| settled.entry.seq);
        let mut rows = PreparedStatements::new(tx)?;
        for _ in 0..DEFERRED_SLICE_MAX {
            let Some(settled) = self.buffered.pop_front() else {
                break;
            };
            self.bytes -= settled.bytes;
            rows.store_deferred(&settled)?;
            if has_query() {
                break;
            }
        }
        Ok(())
    }
}

/// Loads at most `limit` entries whose JSON and words are not written yet, oldest first, folded from their events in
/// one walk.
pub(crate) fn load_deferred_entries(
    conn: &Connection,
    limit: usize,
) -> Result<Vec<SettledEntry>, RecordError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut folds: BTreeMap<u64, EntryFold> = BTreeMap::new();
    let mut statement = conn.prepare_cached(&format!("SELECT seq, folded_to {DEFERRED_ROWS}"))?;
    let mut rows = statement.query([limit])?;
    while let Some(row) = rows.next()? {
        let folded_to = seq_from_sql(row.get(1)?);
        folds.insert(seq_from_sql(row.get(0)?), EntryFold::new(folded_to));
    }
    let Some(first) = folds.keys().next().copied() else {
        return Ok(Vec::new());
    };
    let last = folds.values().map(|folds| folds.folded_to).max();
    let mut statement = conn.prepare_cached(&format!("SELECT {EVENTS_OF_DEFERRED}"))?;
    let mut rows = statement.query(params![limit, seq_to_sql(first), last.map(seq_to_sql)])?;
    while let Some(row) = rows.next()? {
        let event = load::event_from_row(row)?;
        if let Some(folds) = folds.get_mut(&seq_from_sql(row.get(4)?)) {
            folds.bytes += row.get_ref(3)?.as_str().map_or(0, str::len);
            folds.entry = fold::fold_entry(folds.entry.take(), &event);
        }
    }
    Ok(folds
        .into_values()
        .filter_map(EntryFold::into_settled)
        .collect())
}

/// An entry while its events are read.
struct EntryFold {
    folded_to: u64,
    entry: Option<Entry>,
    bytes: usize,
}

impl EntryFold {
    fn new(folded_to: u64) -> Self {
        Self {
            folded_to,
            entry: None,
            bytes: 0,
        }
    }

    fn into_settled(self) -> Option<SettledEntry> {
        Some(SettledEntry {
            entry: self.entry?,
            folded_to: self.folded_to,
            bytes: self.bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use protocol::event::SessionEvent;
    use protocol::{Event, EventBody, Notice, NoticeLevel, UserError};

    use super::*;
    use crate::open::open_empty;
    use crate::projections::live_cache::LiveCache;
    use crate::schema::explain_query_plan;
    use crate::writer::event_rows::EventInserter;

    /// Records so many notices, the first at the position `first`, as the writer does.
    fn record_notices(conn: &Connection, live: &mut LiveCache, first: u64, count: u64, text: &str) {
        let mut log = EventInserter::new(conn).unwrap();
        for seq in first..first + count {
            let fault = UserError::new(format!("{text} {seq}"), "");
            let level = NoticeLevel::Note;
            let event = Event {
                seq,
                session: "ses_1".into(),
                at: 1,
                body: EventBody::Session(SessionEvent::NoticeAdded {
                    notice: Notice { level, fault },
                }),
            };
            log.push_event(&event, |bytes| live.fold_event(conn, &event, bytes))
                .unwrap();
        }
        log.flush_rest().unwrap();
        live.store_changes(&mut PreparedStatements::new(conn).unwrap())
            .unwrap();
    }

    fn deferred_keys(conn: &Connection) -> Vec<u64> {
        let found = load_deferred_entries(conn, usize::MAX).unwrap();
        found.iter().map(|settled| settled.entry.seq).collect()
    }

    #[test]
    fn late_work_stops_where_something_is_asked_and_goes_on_in_slices() {
        let conn = open_empty().unwrap();
        let mut live = LiveCache::default();
        record_notices(&conn, &mut live, 1, 600, "note");
        assert_eq!(deferred_keys(&conn), (1..=600).collect::<Vec<_>>());
        live.deferred.write_deferred(&conn, || true).unwrap();
        live.deferred.write_deferred(&conn, || true).unwrap();
        assert_eq!(
            deferred_keys(&conn),
            (3..=600).collect::<Vec<_>>(),
            "one at a time"
        );
        live.deferred.write_deferred(&conn, || false).unwrap();
        assert_eq!(
            deferred_keys(&conn),
            (259..=600).collect::<Vec<_>>(),
            "a slice"
        );
        // Sessions that were dropped are read again, and the loop ends.
        live.clear();
        let mut slices = 0;
        while live.deferred.has_work() {
            live.deferred.write_deferred(&conn, || false).unwrap();
            slices += 1;
        }
        assert_eq!(
            (deferred_keys(&conn), slices),
            (Vec::new(), 3),
            "342, and a look"
        );
    }

    #[test]
    fn what_is_kept_in_memory_has_limits() {
        let conn = open_empty().unwrap();
        let mut live = LiveCache::default();
        let long = "x".repeat(60_000);
        record_notices(&conn, &mut live, 1, 300, &long);
        let kept = deferred_keys(&conn).len();
        assert!((250..300).contains(&kept), "{kept} of 60 kB each");
        assert_eq!(deferred_keys(&conn), (1..=kept as u64).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_owed_is_found_without_a_look_at_the_rest() {
        let conn = open_empty().unwrap();
        assert_eq!(
            explain_query_plan(&conn, &format!("SELECT seq, folded_to {DEFERRED_ROWS}")),
            ["SCAN entries USING INDEX entries_late"]
        );
        let steps = explain_query_plan(&conn, &format!("SELECT {EVENTS_OF_DEFERRED}"));
        let range = "SEARCH events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)";
        assert_eq!(steps[0], range, "{steps:#?}");
    }
}
