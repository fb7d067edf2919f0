//! What is written late: the JSON and the words of entries that settled in one go, which their events say already.
//!
//! A call that nobody had to decide settles in a moment, and a burst of such calls should wait for nothing but its
//! events. So their narrow rows say that the rest is owed ([`Indexed::Late`]), and the writer makes up for it when
//! nobody asks anything of it, and before it closes. No reader depends on that: the rows name the last event of each
//! entry, and a search looks at what is owed itself.

use std::collections::{BTreeMap, VecDeque};

use protocol::{Entry, fold};
use rusqlite::{Connection, params};

use crate::limits::{LATE_BYTES_MAX, LATE_ENTRIES_MAX, LATE_SLICE_MAX, LATE_SPAN_MAX};
use crate::live::LiveEntry;
use crate::row::{self, Indexed};
use crate::store::{Statements, seq, sql};
use crate::{RecordError, load};

/// The rows that owe something, oldest first.
const OWED: &str = "FROM entries INDEXED BY entries_late WHERE indexed = 2 ORDER BY seq LIMIT ?1";

/// The columns of [`load::event`] and the entry's key, from the events of those rows.
const EVENTS_OF_OWED: &str = "events.seq, sessions.id, events.at, events.body, events.entry FROM events \
     JOIN sessions ON sessions.key = events.session WHERE events.seq BETWEEN ?2 AND ?3 AND events.entry IN \
     (SELECT seq FROM entries INDEXED BY entries_late WHERE indexed = 2 ORDER BY seq LIMIT ?1) ORDER BY events.seq";

/// An entry whose row owes its JSON and its words.
pub(crate) struct Settled {
    pub(crate) entry: Entry,
    /// Its last event. Another number in the row says that the entry changed since.
    pub(crate) folded_to: u64,
    /// Length of its events.
    bytes: usize,
}

/// What is owed, kept in memory as far as there is room, so that it need not be read again.
pub(crate) struct Late {
    kept: VecDeque<Settled>,
    bytes: usize,
    /// Whether the tables may owe something that is not kept: what an earlier or another process left.
    more: bool,
}

impl Default for Late {
    fn default() -> Self {
        Self {
            kept: VecDeque::new(),
            bytes: 0,
            more: true,
        }
    }
}

impl Late {
    /// Whether there may be something to do.
    pub(crate) fn owes(&self) -> bool {
        self.more || !self.kept.is_empty()
    }

    /// Whether an entry's JSON and words may come late: if it settled without a person and without a copy to undo it by,
    /// if a reader finds its events close together, and if not too much is owed already.
    pub(crate) fn takes(&self, live: &LiveEntry) -> bool {
        let row = &live.row;
        row::is_settled(&live.entry)
            && !row.folded
            && row.indexed != Indexed::Yes
            && row.undo_seq.is_none()
            && live.folded_to - live.entry.seq < LATE_SPAN_MAX
            && self.kept.len() < LATE_ENTRIES_MAX
            && self.bytes + live.bytes <= LATE_BYTES_MAX
    }

    /// Keeps an entry that [`Late::takes`] took.
    pub(crate) fn keep(&mut self, live: LiveEntry) {
        self.bytes += live.bytes;
        self.kept.push_back(Settled {
            entry: live.entry,
            folded_to: live.folded_to,
            bytes: live.bytes,
        });
    }

    /// Writes what some rows owe, within a transaction; at least one and at most a slice of them; stops where
    /// `asked` says that something is asked of the writer.
    pub(crate) fn catch_up(
        &mut self,
        tx: &Connection,
        asked: impl Fn() -> bool,
    ) -> Result<(), RecordError> {
        if self.kept.is_empty() {
            self.kept = owed(tx, LATE_SLICE_MAX)?.into();
            self.bytes = self.kept.iter().map(|settled| settled.bytes).sum();
            self.more = !self.kept.is_empty();
        }
        // The full-text index writes itself out whenever a key is smaller than the one before.
        let kept = self.kept.make_contiguous();
        kept.sort_by_key(|settled| settled.entry.seq);
        let mut rows = Statements::new(tx)?;
        for _ in 0..LATE_SLICE_MAX {
            let Some(settled) = self.kept.pop_front() else {
                break;
            };
            self.bytes -= settled.bytes;
            rows.complete(&settled)?;
            if asked() {
                break;
            }
        }
        Ok(())
    }
}

/// At most `limit` entries whose rows owe their JSON and their words, oldest first, folded from their events in one walk.
pub(crate) fn owed(conn: &Connection, limit: usize) -> Result<Vec<Settled>, RecordError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut found: BTreeMap<u64, Found> = BTreeMap::new();
    let mut statement = conn.prepare_cached(&format!("SELECT seq, folded_to {OWED}"))?;
    let mut rows = statement.query([limit])?;
    while let Some(row) = rows.next()? {
        let folded_to = seq(row.get(1)?);
        found.insert(seq(row.get(0)?), Found::new(folded_to));
    }
    let Some(first) = found.keys().next().copied() else {
        return Ok(Vec::new());
    };
    let last = found.values().map(|found| found.folded_to).max();
    let mut statement = conn.prepare_cached(&format!("SELECT {EVENTS_OF_OWED}"))?;
    let mut rows = statement.query(params![limit, sql(first), last.map(sql)])?;
    while let Some(row) = rows.next()? {
        let event = load::event(row)?;
        if let Some(found) = found.get_mut(&seq(row.get(4)?)) {
            found.bytes += row.get_ref(3)?.as_str().map_or(0, str::len);
            found.entry = fold::entry(found.entry.take(), &event);
        }
    }
    Ok(found.into_values().filter_map(Found::settled).collect())
}

/// An entry while its events are read.
struct Found {
    folded_to: u64,
    entry: Option<Entry>,
    bytes: usize,
}

impl Found {
    fn new(folded_to: u64) -> Self {
        Self {
            folded_to,
            entry: None,
            bytes: 0,
        }
    }

    fn settled(self) -> Option<Settled> {
        Some(Settled {
            entry: self.entry?,
            folded_to: self.folded_to,
            bytes: self.bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Event, EventBody, Fault, Notice, NoticeLevel};

    use super::*;
    use crate::events::EventRows;
    use crate::live::Live;
    use crate::look::open_empty;
    use crate::schema::plan;

    /// Records so many notices, the first at the position `first`, as the writer does.
    fn record(conn: &Connection, live: &mut Live, first: u64, count: u64, text: &str) {
        let mut log = EventRows::new(conn).unwrap();
        for seq in first..first + count {
            let fault = Fault::new(format!("{text} {seq}"), "");
            let level = NoticeLevel::Note;
            let event = Event {
                seq,
                session: "ses_1".into(),
                at: 1,
                body: EventBody::Noted {
                    notice: Notice { level, fault },
                },
            };
            log.add(&event, |bytes| live.fold(conn, &event, bytes))
                .unwrap();
        }
        log.finish().unwrap();
        live.store(&mut Statements::new(conn).unwrap()).unwrap();
    }

    fn keys(conn: &Connection) -> Vec<u64> {
        let found = owed(conn, usize::MAX).unwrap();
        found.iter().map(|settled| settled.entry.seq).collect()
    }

    #[test]
    fn late_work_stops_where_something_is_asked_and_goes_on_in_slices() {
        let conn = open_empty().unwrap();
        let mut live = Live::default();
        record(&conn, &mut live, 1, 600, "note");
        assert_eq!(keys(&conn), (1..=600).collect::<Vec<_>>());
        live.late.catch_up(&conn, || true).unwrap();
        live.late.catch_up(&conn, || true).unwrap();
        assert_eq!(keys(&conn), (3..=600).collect::<Vec<_>>(), "one at a time");
        live.late.catch_up(&conn, || false).unwrap();
        assert_eq!(keys(&conn), (259..=600).collect::<Vec<_>>(), "a slice");
        // What was forgotten is read again, and there is an end.
        live.clear();
        let mut slices = 0;
        while live.late.owes() {
            live.late.catch_up(&conn, || false).unwrap();
            slices += 1;
        }
        assert_eq!((keys(&conn), slices), (Vec::new(), 3), "342, and a look");
    }

    #[test]
    fn what_is_kept_in_memory_has_limits() {
        let conn = open_empty().unwrap();
        let mut live = Live::default();
        let long = "x".repeat(60_000);
        record(&conn, &mut live, 1, 300, &long);
        let kept = keys(&conn).len();
        assert!((250..300).contains(&kept), "{kept} of 60 kB each");
        assert_eq!(keys(&conn), (1..=kept as u64).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_owed_is_found_without_a_look_at_the_rest() {
        let conn = open_empty().unwrap();
        assert_eq!(
            plan(&conn, &format!("SELECT seq, folded_to {OWED}")),
            ["SCAN entries USING INDEX entries_late"]
        );
        let steps = plan(&conn, &format!("SELECT {EVENTS_OF_OWED}"));
        let range = "SEARCH events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)";
        assert_eq!(steps[0], range, "{steps:#?}");
    }
}
