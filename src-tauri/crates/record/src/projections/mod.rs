//! Projections of the events: sessions, entries, verdicts and undo entries, written a little after the events are
//! acknowledged.
//!
//! Only the log is written before an event is acknowledged. The projections follow in the log's order, from the events
//! alone, and `projected.upto` names the last event that they include: once nothing was appended for a moment, once much is
//! left to do, and before any question about more than the log is answered (`Record::query_projections`). So a crash
//! leaves nothing undone that the next start could not do, and whichever process comes first does it for all.

pub(crate) mod columns;
pub(crate) mod deferred_projection;
pub(crate) mod live_cache;
pub(crate) mod load;
pub(crate) mod search_text;
pub(crate) mod statements;
pub(crate) mod verdicts;

use std::collections::VecDeque;
use std::sync::Arc;

use protocol::Event;
use rusqlite::{Connection, params};

use crate::RecordError;
use crate::limits::{BATCH_EVENTS_MAX, UNPROJECTED_BYTES_MAX, UNPROJECTED_EVENTS_MAX};
use crate::projections::live_cache::LiveCache;
use crate::projections::load::EVENT_COLUMNS;
use crate::projections::statements::{PreparedStatements, seq_to_sql};

/// The events after a position.
const EVENTS_AFTER: &str = "WHERE events.seq > ?1 ORDER BY events.seq LIMIT ?2";

/// Projects the events into the other tables.
pub(crate) struct Projector {
    pub(crate) live: LiveCache,
    /// The last event that `live` holds; none if it holds nothing.
    projected_seq: Option<u64>,
    /// Recorded events that are not projected yet, kept so that they need not be read again.
    buffered: VecDeque<StoredEvents>,
    /// Number of buffered events.
    count: usize,
    /// The length of their JSON.
    bytes: usize,
    /// Whether the log may hold more events that are not projected: an earlier or another process left them.
    more: bool,
}

/// Some events in a row, with the stored length of each.
pub(crate) struct StoredEvents {
    pub(crate) events: Arc<[Event]>,
    pub(crate) lengths: Vec<usize>,
}

impl StoredEvents {
    fn last_seq(&self) -> u64 {
        self.events.last().map_or(0, |event| event.seq)
    }

    fn total_bytes(&self) -> usize {
        self.lengths.iter().sum()
    }
}

impl Default for Projector {
    fn default() -> Self {
        Self {
            live: LiveCache::default(),
            projected_seq: None,
            buffered: VecDeque::new(),
            count: 0,
            bytes: 0,
            more: true,
        }
    }
}

impl Projector {
    /// Whether there may be something to make.
    pub(crate) fn has_work(&self) -> bool {
        self.more || !self.buffered.is_empty()
    }

    /// Whether so many events wait that they must be projected before more are recorded.
    pub(crate) fn is_full(&self) -> bool {
        self.count >= UNPROJECTED_EVENTS_MAX || self.bytes >= UNPROJECTED_BYTES_MAX
    }

    /// Buffers recorded events until they are projected.
    pub(crate) fn push_events(&mut self, stored: StoredEvents) {
        self.count += stored.events.len();
        self.bytes += stored.total_bytes();
        self.buffered.push_back(stored);
    }

    /// Projects every event in the log.
    pub(crate) fn project_all(&mut self, tx: &Connection) -> Result<(), RecordError> {
        while self.project_next(tx)? {}
        Ok(())
    }

    /// Projects some of the next events, within a transaction. Returns whether there are more. If this fails, or the
    /// transaction, the projector must be created anew.
    pub(crate) fn project_next(&mut self, tx: &Connection) -> Result<bool, RecordError> {
        let upto = load::load_projected_seq(tx)?;
        if self.projected_seq != Some(upto) {
            // Another process did what was left to do.
            self.live.clear();
        }
        let (stored, projected_count) = loop {
            let Some(stored) = self.buffered.pop_front() else {
                break (read_events_after(tx, upto)?, 0);
            };
            // The events before these stand in the log alone.
            if stored
                .events
                .first()
                .is_some_and(|first| first.seq > upto + 1)
            {
                self.buffered.push_front(stored);
                break (read_events_after(tx, upto)?, 0);
            }
            self.count -= stored.events.len();
            self.bytes -= stored.total_bytes();
            let projected_count = stored.events.partition_point(|event| event.seq <= upto);
            if projected_count < stored.events.len() {
                break (stored, projected_count);
            }
        };
        let events = stored.events.get(projected_count..).unwrap_or_default();
        let lengths = stored.lengths.get(projected_count..).unwrap_or_default();
        let last = match events.last() {
            Some(_) => stored.last_seq(),
            None => upto,
        };
        let mut places = Vec::with_capacity(events.len());
        for (event, bytes) in events.iter().zip(lengths) {
            places.push(self.live.fold_event(tx, event, *bytes)?);
        }
        verdicts::project_verdicts(tx, events, &places)?;
        let mut rows = PreparedStatements::new(tx)?;
        self.live.store_changes(&mut rows)?;
        drop(rows);
        tx.prepare_cached("UPDATE projected SET upto = ?1")?
            .execute([seq_to_sql(last)])?;
        self.live.evict_settled();
        self.projected_seq = Some(last);
        self.more = last < load::load_last_seq(tx)? && self.buffered.is_empty();
        Ok(self.has_work())
    }
}

/// Some events after a position, from the log.
fn read_events_after(conn: &Connection, upto: u64) -> Result<StoredEvents, RecordError> {
    let mut statement = conn.prepare_cached(&format!("SELECT {EVENT_COLUMNS} {EVENTS_AFTER}"))?;
    let limit = i64::try_from(BATCH_EVENTS_MAX).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![seq_to_sql(upto), limit])?;
    let (mut events, mut lengths) = (Vec::new(), Vec::new());
    while let Some(row) = rows.next()? {
        lengths.push(row.get_ref(3)?.as_str().map_or(0, str::len));
        events.push(load::event_from_row(row)?);
    }
    Ok(StoredEvents {
        events: events.into(),
        lengths,
    })
}
