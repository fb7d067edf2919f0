//! The reading connections: a few, made when they are needed, lent to one question at a time.

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::limits::READERS_MAX;
use crate::projections::Projector;
use crate::snippet::MatchMarker;
use crate::{RecordError, open};

/// The state of the projections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProjectionState {
    /// The tables are up to date.
    Current,
    /// The projections are made for one query and rolled back, because they cannot be written.
    Temporary,
}

/// The reading connections, idle or lent.
pub(crate) struct ReaderPool {
    /// The database; none for a record that keeps nothing.
    file: Option<PathBuf>,
    pool: Mutex<PoolState>,
    returned: Condvar,
}

struct PoolState {
    idle: Vec<PooledReader>,
    lent: usize,
}

struct PooledReader {
    conn: Connection,
    marker: Option<MatchMarker>,
}

impl PooledReader {
    fn new(file: Option<&Path>) -> Result<Self, RecordError> {
        let conn = match file {
            Some(file) => open::open_reader(file)?,
            None => open::open_empty()?,
        };
        Ok(Self { conn, marker: None })
    }
}

impl ReaderPool {
    pub(crate) fn open(file: &Path) -> Result<Self, RecordError> {
        Self::open_first(Some(file.to_owned()))
    }

    /// Opens connections to an empty database.
    pub(crate) fn open_empty() -> Result<Self, RecordError> {
        Self::open_first(None)
    }

    fn open_first(file: Option<PathBuf>) -> Result<Self, RecordError> {
        let idle = vec![PooledReader::new(file.as_deref())?];
        Ok(Self {
            file,
            pool: Mutex::new(PoolState { idle, lent: 0 }),
            returned: Condvar::new(),
        })
    }

    /// Runs a query on the record as of one moment.
    pub(crate) fn read_snapshot<T>(
        &self,
        state: ProjectionState,
        ask: impl FnOnce(&Transaction<'_>) -> Result<T, RecordError>,
    ) -> Result<T, RecordError> {
        self.with_reader(|reader| read_in_transaction(&reader.conn, state, ask))
    }

    /// Runs a query on the record as of one moment, with the marker of matches.
    pub(crate) fn search_snapshot<T>(
        &self,
        state: ProjectionState,
        ask: impl FnOnce(&Transaction<'_>, &MatchMarker) -> Result<T, RecordError>,
    ) -> Result<T, RecordError> {
        self.with_reader(|reader| {
            let marker = match reader.marker.take() {
                Some(marker) => marker,
                None => MatchMarker::new()?,
            };
            let answer = read_in_transaction(&reader.conn, state, |tx| ask(tx, &marker));
            reader.marker = Some(marker);
            answer
        })
    }

    fn with_reader<T>(
        &self,
        ask: impl FnOnce(&mut PooledReader) -> Result<T, RecordError>,
    ) -> Result<T, RecordError> {
        let mut lease = ReaderLease {
            reader: Some(self.take_reader()?),
            readers: self,
        };
        match &mut lease.reader {
            Some(reader) => ask(reader),
            None => Err(RecordError::Closed),
        }
    }

    fn take_reader(&self) -> Result<PooledReader, RecordError> {
        let mut pool = self.lock_pool();
        loop {
            if let Some(reader) = pool.idle.pop() {
                pool.lent += 1;
                return Ok(reader);
            }
            if pool.lent < READERS_MAX {
                pool.lent += 1;
                drop(pool);
                return PooledReader::new(self.file.as_deref()).inspect_err(|_| {
                    self.lock_pool().lent -= 1;
                    self.returned.notify_one();
                });
            }
            pool = self
                .returned
                .wait(pool)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock_pool(&self) -> MutexGuard<'_, PoolState> {
        // The pool is whole between any two statements, whatever a thread that held it did.
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs a query in a transaction, with projections of all events.
fn read_in_transaction<T>(
    conn: &Connection,
    state: ProjectionState,
    ask: impl FnOnce(&Transaction<'_>) -> Result<T, RecordError>,
) -> Result<T, RecordError> {
    match state {
        ProjectionState::Current => ask(&begin_transaction(conn, TransactionBehavior::Deferred)?),
        ProjectionState::Temporary => {
            conn.pragma_update(None, "query_only", false)?;
            let answer = read_with_temporary_projection(conn, ask);
            conn.pragma_update(None, "query_only", true)?;
            answer
        }
    }
}

/// Projects the remaining events and runs a query, in a transaction that is rolled back.
fn read_with_temporary_projection<T>(
    conn: &Connection,
    ask: impl FnOnce(&Transaction<'_>) -> Result<T, RecordError>,
) -> Result<T, RecordError> {
    let tx = begin_transaction(conn, TransactionBehavior::Immediate)?;
    Projector::default().project_all(&tx)?;
    ask(&tx)
}

fn begin_transaction(
    conn: &Connection,
    behavior: TransactionBehavior,
) -> Result<Transaction<'_>, RecordError> {
    Ok(Transaction::new_unchecked(conn, behavior)?)
}

/// A lent reader, which is returned to the pool when the lease is dropped.
struct ReaderLease<'a> {
    reader: Option<PooledReader>,
    readers: &'a ReaderPool,
}

impl Drop for ReaderLease<'_> {
    fn drop(&mut self) {
        let mut pool = self.readers.lock_pool();
        pool.lent -= 1;
        pool.idle.extend(self.reader.take());
        drop(pool);
        self.readers.returned.notify_one();
    }
}
