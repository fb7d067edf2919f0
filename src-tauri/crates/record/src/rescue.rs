//! Saving what can be read of a damaged database: its events are copied one by one into a new one, from which everything
//! else is derived anew.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, Write as _};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::event::SessionEvent;
use protocol::{At, EventBody, ModelChoice};
use rusqlite::{Connection, Row, Transaction, params};

use crate::open::{SQLITE_MAGIC, open_connection, open_writer, reject_newer_format, wal_path};
use crate::projections::statements::{insert_span, seq_from_sql, seq_to_sql, to_json};
use crate::schema::{APPLICATION_ID, read_format};
use crate::writer::erasure;
use crate::{Record, RecordError};

/// Title of a session whose beginning is lost.
const UNTITLED: &str = "Rescued session";
/// Positions that a span covers at most.
const SPAN_POSITIONS_MAX: u64 = 1_000;
const EVENTS_FROM: &str =
    "SELECT seq, session, entry, at, type, body FROM events WHERE seq >= ?1 ORDER BY seq";
const INSERT_EVENT: &str = "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

/// What was saved of a damaged record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rescued {
    /// Number of events.
    pub events: u64,
    /// Number of sessions that they belong to.
    pub sessions: usize,
    /// Positions in the log where nothing could be read. Some of them may have held nothing.
    pub lost: Vec<RangeInclusive<u64>>,
}

/// A damaged record whose place was taken by what could be read of it.
#[derive(Debug)]
pub struct ReplacedRecord {
    /// What was saved.
    pub rescued: Rescued,
    /// Where the damaged record is now.
    pub damaged: PathBuf,
}

impl Rescued {
    /// Number of positions where nothing could be read.
    pub fn lost_count(&self) -> u64 {
        let counts = self.lost.iter().map(|lost| lost.end() - lost.start() + 1);
        counts.sum()
    }

    /// Adds a position after all others.
    fn add_lost(&mut self, seq: u64) {
        match self.lost.last_mut() {
            Some(lost) if lost.end() + 1 == seq => *lost = *lost.start()..=seq,
            Some(_) | None => self.lost.push(seq..=seq),
        }
    }
}

impl Record {
    /// Copies the events that can be read from `damaged` to a new database `new`, whose folder must exist. A session
    /// whose beginning is lost gets one that says so. The damaged database is not changed.
    ///
    /// # Errors
    /// [`RecordError::CannotCopy`] where `new` exists or a file cannot be copied, [`RecordError::Newer`] and
    /// [`RecordError::NotARecord`] for a database that is not one of this version, [`RecordError::Damaged`] where nothing
    /// can be read at all.
    pub fn rescue(damaged: &Path, new: &Path) -> Result<Rescued, RecordError> {
        if new.exists() {
            return Err(copy_error(new, io::ErrorKind::AlreadyExists.into()));
        }
        let folder = new.parent().unwrap_or(Path::new("."));
        let scratch = tempfile::tempdir_in(folder).map_err(|error| copy_error(new, error))?;
        let source = scratch.path().join("damaged.db");
        let copy = |from: &Path, to: &Path| {
            let copied = fs::copy(from, to);
            copied.map_err(|error| copy_error(from, error))
        };
        copy(damaged, &source)?;
        if wal_path(damaged).exists() {
            copy(&wal_path(damaged), &wal_path(&source))?;
        }
        let target = scratch.path().join("rescued.db");
        let rescued = copy_events(&open_source(&source, damaged)?, &target)?;
        // Every query needs what is derived, and the log of the new database must be in it before it is moved.
        Self::open(&target, Box::new(|_| {}))?.sessions()?;
        open_connection(&target)?.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        fs::File::open(&target)
            .and_then(|file| file.sync_all())
            .map_err(|error| copy_error(new, error))?;
        fs::rename(&target, new).map_err(|error| copy_error(new, error))?;
        Ok(rescued)
    }

    /// Puts what can be read of a damaged database in its place. The damaged one is kept beside it. Nothing else may have
    /// the database open.
    ///
    /// # Errors
    /// As for [`Record::rescue`]. After an error the damaged database has its own name or the other.
    pub fn replace_damaged(file: &Path) -> Result<ReplacedRecord, RecordError> {
        let folder = file.parent().unwrap_or(Path::new("."));
        let scratch = tempfile::tempdir_in(folder).map_err(|error| copy_error(file, error))?;
        let new = scratch.path().join("rescued.db");
        let rescued = Self::rescue(file, &new)?;
        let damaged = unused_name(file);
        let rename =
            |from: &Path, to: &Path| fs::rename(from, to).map_err(|error| copy_error(to, error));
        // The log first: it belongs to the damaged database alone.
        if wal_path(file).exists() {
            rename(&wal_path(file), &wal_path(&damaged))?;
        }
        rename(file, &damaged)?;
        rename(&new, file)?;
        Ok(ReplacedRecord { rescued, damaged })
    }
}

fn copy_error(file: &Path, error: io::Error) -> RecordError {
    RecordError::CannotCopy {
        file: file.to_owned(),
        source: Arc::new(error),
    }
}

/// Returns a name for a damaged database that no file has.
fn unused_name(file: &Path) -> PathBuf {
    let first = file.with_extension("damaged.db");
    let mut others = (2..).map(|number: u32| file.with_extension(format!("damaged-{number}.db")));
    match first.exists() {
        true => others.find(|name| !name.exists()).unwrap_or(first),
        false => first,
    }
}

/// Opens a copy of the damaged database.
fn open_source(copy: &Path, damaged: &Path) -> Result<Connection, RecordError> {
    restore_magic(copy).map_err(|error| copy_error(damaged, error))?;
    let conn = open_connection(copy)?;
    let id: i64 = conn.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    if id != i64::from(APPLICATION_ID) {
        return Err(RecordError::NotARecord {
            file: damaged.to_owned(),
            reason: "its header does not say that it is one".to_owned(),
        });
    }
    reject_newer_format(damaged, read_format(&conn)?)?;
    // A cell that is larger than its page is found before it is read.
    conn.pragma_update(None, "cell_size_check", true)?;
    conn.pragma_update(None, "query_only", true)?;
    Ok(conn)
}

/// Writes the first bytes of every SQLite database, without which nothing of it is read.
fn restore_magic(copy: &Path) -> io::Result<()> {
    let mut file = fs::File::options().write(true).open(copy)?;
    file.write_all(SQLITE_MAGIC)
}

/// Copies the events that can be read to a new database.
fn copy_events(source: &Connection, target: &Path) -> Result<Rescued, RecordError> {
    let last = last_position(source)?;
    let mut conn = open_writer(target)?;
    let tx = conn.transaction()?;
    let mut copy = EventCopy::new(source, &tx);
    let mut next = 1;
    while next <= last {
        let Some(unreadable) = copy.copy_from(next)? else {
            break;
        };
        copy.rescued.add_lost(unreadable);
        next = unreadable + 1;
    }
    let rescued = copy.finish()?;
    tx.commit()?;
    Ok(rescued)
}

/// Returns the last position that any table names.
fn last_position(source: &Connection) -> Result<u64, RecordError> {
    let tables = [
        "SELECT max(seq) FROM events",
        "SELECT max(last) FROM spans",
        "SELECT max(seq) FROM entries",
        "SELECT max(seq) FROM folded",
        "SELECT upto FROM projected",
    ];
    let named = tables.iter().filter_map(|sql| {
        let found = source.query_row(sql, [], |row| row.get::<_, Option<i64>>(0));
        found.ok().flatten()
    });
    let last = named.max().ok_or_else(|| RecordError::Damaged {
        reason: "nothing in it can be read".to_owned(),
    })?;
    Ok(seq_from_sql(last))
}

/// The events on their way to the new database.
struct EventCopy<'a> {
    source: &'a Connection,
    tx: &'a Transaction<'a>,
    /// By session, the positions of its events that no span in the new database covers yet.
    spans: HashMap<i64, RangeInclusive<u64>>,
    /// Lost positions that were given to the beginning of a session.
    given: HashSet<u64>,
    rescued: Rescued,
}

/// An event as it is stored.
struct StoredEvent {
    seq: u64,
    session: i64,
    entry: Option<i64>,
    at: At,
    name: String,
    json: String,
    body: EventBody,
}

impl StoredEvent {
    /// Reads an event; `None` if it is damaged.
    fn from_row(row: &Row<'_>) -> Option<Self> {
        let json: String = row.get(5).ok()?;
        Some(Self {
            seq: seq_from_sql(row.get(0).ok()?),
            session: row.get(1).ok()?,
            entry: row.get(2).ok()?,
            at: row.get(3).ok()?,
            name: row.get(4).ok()?,
            body: serde_json::from_str(&json).ok()?,
            json,
        })
    }
}

impl<'a> EventCopy<'a> {
    fn new(source: &'a Connection, tx: &'a Transaction<'a>) -> Self {
        Self {
            source,
            tx,
            spans: HashMap::new(),
            given: HashSet::new(),
            rescued: Rescued::default(),
        }
    }

    /// Copies the events from a position on, until the end or one that cannot be read, whose position is returned.
    fn copy_from(&mut self, start: u64) -> Result<Option<u64>, RecordError> {
        let mut statement = self.source.prepare_cached(EVENTS_FROM)?;
        let mut rows = statement.query([seq_to_sql(start)])?;
        let mut next = start;
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => return Ok(None),
                Err(error) => {
                    return match RecordError::from(error) {
                        RecordError::Damaged { .. } => Ok(Some(next)),
                        error => Err(error),
                    };
                }
            };
            let seq = row.get(0).map_or(0, seq_from_sql);
            match StoredEvent::from_row(row) {
                Some(event) if seq >= next => self.insert_event(&event)?,
                Some(_) | None => return Ok(Some(seq.max(next))),
            }
            next = seq + 1;
        }
    }

    fn insert_event(&mut self, event: &StoredEvent) -> Result<(), RecordError> {
        let StoredEvent { seq, session, .. } = *event;
        let span = match self.spans.get(&session) {
            Some(span) => span.clone(),
            None => self.begin_session(event)?..=seq,
        };
        let seq_in_sql = seq_to_sql(seq);
        self.tx.prepare_cached(INSERT_EVENT)?.execute(params![
            seq_in_sql,
            session,
            event.entry,
            event.at,
            event.name,
            event.json
        ])?;
        self.rescued.events += 1;
        if matches!(event.body, EventBody::Session(SessionEvent::Deleted { .. })) {
            erasure::mark_deleted(self.tx, session, seq)?;
        }
        let span = match seq - span.start() < SPAN_POSITIONS_MAX {
            true => *span.start()..=seq,
            false => {
                insert_span(self.tx, session, *span.start(), *span.end())?;
                seq..=seq
            }
        };
        self.spans.insert(session, span);
        Ok(())
    }

    /// Adds the row of the session of its first event, and where the event that opened the session is lost, another one.
    /// Returns the first position of the session.
    fn begin_session(&mut self, first: &StoredEvent) -> Result<u64, RecordError> {
        let id = self.source.query_row(
            "SELECT id FROM sessions WHERE key = ?1",
            [first.session],
            |row| row.get(0),
        );
        let id = id.unwrap_or_else(|_| format!("ses_rescued_{}", first.session));
        let mut sessions = self
            .tx
            .prepare_cached("INSERT INTO sessions (key, id, seq) VALUES (?1, ?2, ?3)")?;
        sessions.execute(params![first.session, id, seq_to_sql(first.seq)])?;
        let is_opened = matches!(first.body, EventBody::Session(SessionEvent::Opened { .. }));
        let lost = self
            .rescued
            .lost
            .iter()
            .rev()
            .flat_map(|lost| lost.clone().rev());
        let free = lost
            .filter(|_| !is_opened)
            .find(|seq| !self.given.contains(seq));
        let Some(seq) = free else {
            return Ok(first.seq);
        };
        self.given.insert(seq);
        let body = EventBody::Session(SessionEvent::Opened {
            title: UNTITLED.to_owned(),
            workspace: String::new(),
            model: ModelChoice {
                provider: String::new(),
                model: String::new(),
            },
            parent: None,
            options: None,
        });
        self.tx.prepare_cached(INSERT_EVENT)?.execute(params![
            seq_to_sql(seq),
            first.session,
            None::<i64>,
            first.at,
            body.name(),
            to_json(&body)?
        ])?;
        Ok(seq)
    }

    /// Writes the spans that are left, and returns what was saved.
    fn finish(mut self) -> Result<Rescued, RecordError> {
        for (session, span) in &self.spans {
            insert_span(self.tx, *session, *span.start(), *span.end())?;
        }
        self.rescued.sessions = self.spans.len();
        Ok(self.rescued)
    }
}
