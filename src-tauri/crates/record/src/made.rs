//! What is made of the events: sessions, entries, verdicts and undo entries, a little after the events are acknowledged.
//!
//! Only the log is written before an event is acknowledged. The rest follows in the log's order, from the events alone, and
//! `made.upto` names the last event that it holds: once nothing was appended for a moment, once much is left to do, and
//! before any question about more than the log is answered (`Record::ask`). So a crash leaves nothing undone that the next
//! start could not do, and whichever process comes first does it for all.

use std::collections::VecDeque;
use std::sync::Arc;

use protocol::Event;
use rusqlite::{Connection, params};

use crate::limits::{BATCH_EVENTS_MAX, UNMADE_BYTES_MAX, UNMADE_EVENTS_MAX};
use crate::live::Live;
use crate::load::{self, EVENT};
use crate::store::{Statements, sql};
use crate::{RecordError, judged};

/// The events after a position.
const AFTER: &str = "WHERE events.seq > ?1 ORDER BY events.seq LIMIT ?2";

/// Makes of the events what the other tables hold.
pub(crate) struct Maker {
    pub(crate) live: Live,
    /// The last event that `live` holds; none if it holds nothing.
    upto: Option<u64>,
    /// Recorded events of which nothing was made yet, so that they need not be read again.
    kept: VecDeque<Stored>,
    /// How many they are.
    count: usize,
    /// The length of their JSON.
    bytes: usize,
    /// Whether the log may hold more of them: what an earlier or another process left.
    more: bool,
}

/// Some events in a row, with the stored length of each.
pub(crate) struct Stored {
    pub(crate) events: Arc<[Event]>,
    pub(crate) lengths: Vec<usize>,
}

impl Stored {
    fn last(&self) -> u64 {
        self.events.last().map_or(0, |event| event.seq)
    }

    fn bytes(&self) -> usize {
        self.lengths.iter().sum()
    }
}

impl Default for Maker {
    fn default() -> Self {
        Self {
            live: Live::default(),
            upto: None,
            kept: VecDeque::new(),
            count: 0,
            bytes: 0,
            more: true,
        }
    }
}

impl Maker {
    /// Whether there may be something to make.
    pub(crate) fn owes(&self) -> bool {
        self.more || !self.kept.is_empty()
    }

    /// Whether so much waits that it must be made before more is recorded.
    pub(crate) fn is_full(&self) -> bool {
        self.count >= UNMADE_EVENTS_MAX || self.bytes >= UNMADE_BYTES_MAX
    }

    /// Keeps recorded events until something is made of them.
    pub(crate) fn keep(&mut self, stored: Stored) {
        self.count += stored.events.len();
        self.bytes += stored.bytes();
        self.kept.push_back(stored);
    }

    /// Makes everything that the log says.
    pub(crate) fn make_all(&mut self, tx: &Connection) -> Result<(), RecordError> {
        while self.make(tx)? {}
        Ok(())
    }

    /// Makes what some of the events say that come next, within a transaction. Gives whether there are more. If this fails, or
    /// the transaction, the maker must be made anew.
    pub(crate) fn make(&mut self, tx: &Connection) -> Result<bool, RecordError> {
        let upto = load::upto(tx)?;
        if self.upto != Some(upto) {
            // Another process did what was left to do.
            self.live.clear();
        }
        let (stored, known) = loop {
            let Some(stored) = self.kept.pop_front() else {
                break (read(tx, upto)?, 0);
            };
            // What came before it stands in the log alone.
            if stored
                .events
                .first()
                .is_some_and(|first| first.seq > upto + 1)
            {
                self.kept.push_front(stored);
                break (read(tx, upto)?, 0);
            }
            self.count -= stored.events.len();
            self.bytes -= stored.bytes();
            let known = stored.events.partition_point(|event| event.seq <= upto);
            if known < stored.events.len() {
                break (stored, known);
            }
        };
        let events = stored.events.get(known..).unwrap_or_default();
        let lengths = stored.lengths.get(known..).unwrap_or_default();
        let last = match events.last() {
            Some(_) => stored.last(),
            None => upto,
        };
        let mut places = Vec::with_capacity(events.len());
        for (event, bytes) in events.iter().zip(lengths) {
            places.push(self.live.fold(tx, event, *bytes)?);
        }
        judged::project(tx, events, &places)?;
        let mut rows = Statements::new(tx)?;
        self.live.store(&mut rows)?;
        drop(rows);
        tx.prepare_cached("UPDATE made SET upto = ?1")?
            .execute([sql(last)])?;
        self.live.trim();
        self.upto = Some(last);
        self.more = last < load::last_seq(tx)? && self.kept.is_empty();
        Ok(self.owes())
    }
}

/// Some events after a position, from the log.
fn read(conn: &Connection, upto: u64) -> Result<Stored, RecordError> {
    let mut statement = conn.prepare_cached(&format!("SELECT {EVENT} {AFTER}"))?;
    let limit = i64::try_from(BATCH_EVENTS_MAX).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![sql(upto), limit])?;
    let (mut events, mut lengths) = (Vec::new(), Vec::new());
    while let Some(row) = rows.next()? {
        lengths.push(row.get_ref(3)?.as_str().map_or(0, str::len));
        events.push(load::event(row)?);
    }
    Ok(Stored {
        events: events.into(),
        lengths,
    })
}
