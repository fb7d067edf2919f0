//! Erasing what is on record of deleted sessions, in slices: a writer that ends in between goes on at the next start.
//!
//! The event that says that a session was deleted is appended like any other, and names the session in `deletions` within
//! the same transaction. From then on its session is not on record for anybody. All else of it is then removed, a slice
//! at a time, so that other sessions go on: rows and events first, then the words that the full-text index still holds.

use std::time::Duration;

use protocol::event::SessionEvent;
use protocol::{Event, EventBody};
use rusqlite::{Connection, OptionalExtension, params};
use tokio::sync::oneshot;

use crate::RecordError;
use crate::limits::{BUSY_TIMEOUT_MS, ERASED_EVENTS_MAX, MERGED_PAGES_MAX};
use crate::projections::statements::seq_to_sql;

/// What waits until nothing is owed any more.
pub(crate) type ErasureSender = oneshot::Sender<Result<(), RecordError>>;

/// The deleted session of which most is left, and the position of the event that says so.
const FIRST_OWED: &str =
    "SELECT session, seq, erased FROM deletions WHERE erased < 2 ORDER BY erased LIMIT 1";
/// Some events of a session before its deletion, each with whether an entry began with it.
const EVENTS_OWED: &str = "SELECT events.seq, events.entry IS events.seq FROM spans \
     CROSS JOIN events ON events.seq BETWEEN spans.first AND spans.last AND events.session = spans.session \
     WHERE spans.session = ?1 AND events.seq < ?2 ORDER BY spans.last, events.seq LIMIT ?3";
/// The rows that are derived from an entry, by its key.
const ENTRY_ROWS: [&str; 5] = [
    "DELETE FROM words WHERE rowid = ?1",
    "DELETE FROM folded WHERE seq = ?1",
    "DELETE FROM undo_entries WHERE call = ?1",
    "DELETE FROM verdicts WHERE entry = ?1",
    "DELETE FROM entries WHERE seq = ?1",
];

/// The erasure that the writer owes.
pub(crate) struct Erasure {
    /// Whether something may be owed.
    owed: bool,
    /// Whether the full-text index is being merged, which leaves out what was removed from it.
    is_merging: bool,
    waiting: Vec<ErasureSender>,
}

impl Erasure {
    /// Looks for what an earlier process left.
    pub(crate) fn new(conn: &Connection) -> Result<Self, RecordError> {
        Ok(Self {
            owed: find_owed(conn)?.is_some(),
            is_merging: false,
            waiting: Vec::new(),
        })
    }

    /// Whether there is something to erase.
    pub(crate) fn has_work(&self) -> bool {
        self.owed
    }

    /// Notes that a session was deleted.
    pub(crate) fn begin(&mut self) {
        self.owed = true;
    }

    /// Tells `done` once nothing is owed.
    pub(crate) fn wait(&mut self, done: ErasureSender) {
        match self.owed {
            true => self.waiting.push(done),
            false => drop(done.send(Ok(()))),
        }
    }

    /// Erases some more, within a transaction. Whether there is more is known once the transaction is committed.
    pub(crate) fn erase_some(&mut self, tx: &Connection) -> Result<ErasureProgress, RecordError> {
        let Some(owed) = find_owed(tx)? else {
            return Ok(ErasureProgress::Finished);
        };
        if owed.are_rows_erased {
            if merge_words(tx, !self.is_merging)? {
                self.is_merging = true;
                return Ok(ErasureProgress::Ongoing);
            }
            tx.execute("UPDATE deletions SET erased = 2 WHERE erased = 1", [])?;
        } else if !erase_events(tx, &owed)? {
            tx.execute(
                "UPDATE deletions SET erased = 1 WHERE session = ?1",
                [owed.session],
            )?;
            self.is_merging = false;
        }
        Ok(ErasureProgress::Ongoing)
    }

    /// Tells everybody who waits that nothing is owed.
    pub(crate) fn finish(&mut self) {
        (self.owed, self.is_merging) = (false, false);
        for done in self.waiting.drain(..) {
            drop(done.send(Ok(())));
        }
    }

    /// Tells everybody who waits that it failed for now; what is left stays owed.
    pub(crate) fn fail(&mut self, error: &RecordError) {
        self.is_merging = false;
        for done in self.waiting.drain(..) {
            drop(done.send(Err(error.clone())));
        }
    }
}

/// How far the erasure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErasureProgress {
    /// There may be more.
    Ongoing,
    /// Nothing is owed any more.
    Finished,
}

/// A deleted session of which something may be left.
struct OwedErasure {
    session: i64,
    seq: i64,
    are_rows_erased: bool,
}

fn find_owed(conn: &Connection) -> Result<Option<OwedErasure>, RecordError> {
    let owed = conn
        .prepare_cached(FIRST_OWED)?
        .query_row([], |row| {
            Ok(OwedErasure {
                session: row.get(0)?,
                seq: row.get(1)?,
                are_rows_erased: row.get::<_, i64>(2)? > 0,
            })
        })
        .optional()?;
    Ok(owed)
}

/// Whether an event deletes its session.
pub(crate) fn is_deletion(event: &Event) -> bool {
    matches!(event.body, EventBody::Session(SessionEvent::Deleted { .. }))
}

/// Names a session as deleted by an event that is in the log. A session is deleted once.
pub(crate) fn mark_deleted(conn: &Connection, session: i64, seq: u64) -> Result<(), RecordError> {
    conn.prepare_cached("INSERT INTO deletions VALUES (?1, ?2, 0) ON CONFLICT DO NOTHING")?
        .execute(params![session, seq_to_sql(seq)])?;
    conn.prepare_cached("DELETE FROM rule_hits WHERE session = ?1")?
        .execute([session])?;
    Ok(())
}

/// Removes some events of a session, and what is derived from them. Returns whether there were any.
fn erase_events(tx: &Connection, owed: &OwedErasure) -> Result<bool, RecordError> {
    let limit = i64::try_from(ERASED_EVENTS_MAX).unwrap_or(i64::MAX);
    let mut statement = tx.prepare_cached(EVENTS_OWED)?;
    let rows = statement.query_map(params![owed.session, owed.seq, limit], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, bool>(1)?))
    })?;
    let events = rows.collect::<Result<Vec<_>, _>>()?;
    let Some((last, _)) = events.last() else {
        return Ok(false);
    };
    for (seq, begins_entry) in &events {
        if *begins_entry {
            for rows in ENTRY_ROWS {
                tx.prepare_cached(rows)?.execute([seq])?;
            }
        }
        tx.prepare_cached("DELETE FROM events WHERE seq = ?1")?
            .execute([seq])?;
    }
    tx.prepare_cached("DELETE FROM spans WHERE session = ?1 AND last <= ?2")?
        .execute([owed.session, *last])?;
    Ok(true)
}

/// Merges some pages of the full-text index, which leaves out the words of removed entries. Returns whether there is more
/// to merge.
fn merge_words(tx: &Connection, begins: bool) -> Result<bool, RecordError> {
    let changes = || tx.query_row("SELECT total_changes()", [], |row| row.get::<_, i64>(0));
    // A negative number has all segments merged to one.
    let pages = if begins {
        -MERGED_PAGES_MAX
    } else {
        MERGED_PAGES_MAX
    };
    let before = changes()?;
    tx.execute(
        "INSERT INTO words (words, rank) VALUES ('merge', ?1)",
        [pages],
    )?;
    // The command itself counts as one change.
    Ok(changes()? - before >= 2)
}

/// Empties the write-ahead log, which has what was erased, if nobody reads it at the moment.
pub(crate) fn truncate_log(conn: &Connection) -> Result<(), RecordError> {
    conn.busy_timeout(Duration::ZERO)?;
    let emptied = conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    conn.busy_timeout(Duration::from_millis(BUSY_TIMEOUT_MS))?;
    Ok(emptied?)
}
