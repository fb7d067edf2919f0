//! The reading connections: a few, made when they are needed, lent to one question at a time.

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::hit::Marker;
use crate::limits::READERS_MAX;
use crate::made::Maker;
use crate::{RecordError, look};

/// Where what is made of the events stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// In the tables.
    Stands,
    /// It is made for one question and forgotten again, because it cannot be written.
    Apart,
}

/// The connections and who has them.
pub(crate) struct Readers {
    /// The database; none for a record that keeps nothing.
    file: Option<PathBuf>,
    pool: Mutex<Pool>,
    returned: Condvar,
}

struct Pool {
    idle: Vec<Reader>,
    lent: usize,
}

struct Reader {
    conn: Connection,
    marker: Option<Marker>,
}

impl Reader {
    fn new(file: Option<&Path>) -> Result<Self, RecordError> {
        let conn = match file {
            Some(file) => look::open_reader(file)?,
            None => look::open_empty()?,
        };
        Ok(Self { conn, marker: None })
    }
}

impl Readers {
    pub(crate) fn open(file: &Path) -> Result<Self, RecordError> {
        Self::with_first(Some(file.to_owned()))
    }

    /// Connections that find nothing.
    pub(crate) fn empty() -> Result<Self, RecordError> {
        Self::with_first(None)
    }

    fn with_first(file: Option<PathBuf>) -> Result<Self, RecordError> {
        let idle = vec![Reader::new(file.as_deref())?];
        Ok(Self {
            file,
            pool: Mutex::new(Pool { idle, lent: 0 }),
            returned: Condvar::new(),
        })
    }

    /// Asks something of the record as it stands at one moment.
    pub(crate) fn read<T>(
        &self,
        made: Made,
        ask: impl FnOnce(&Transaction<'_>) -> Result<T, RecordError>,
    ) -> Result<T, RecordError> {
        self.with(|reader| look(&reader.conn, made, ask))
    }

    /// The same, with the marker of what matched.
    pub(crate) fn search<T>(
        &self,
        made: Made,
        ask: impl FnOnce(&Transaction<'_>, &Marker) -> Result<T, RecordError>,
    ) -> Result<T, RecordError> {
        self.with(|reader| {
            let marker = match reader.marker.take() {
                Some(marker) => marker,
                None => Marker::new()?,
            };
            let answer = look(&reader.conn, made, |tx| ask(tx, &marker));
            reader.marker = Some(marker);
            answer
        })
    }

    fn with<T>(
        &self,
        ask: impl FnOnce(&mut Reader) -> Result<T, RecordError>,
    ) -> Result<T, RecordError> {
        let mut lent = Lent {
            reader: Some(self.lend()?),
            readers: self,
        };
        match &mut lent.reader {
            Some(reader) => ask(reader),
            None => Err(RecordError::Closed),
        }
    }

    fn lend(&self) -> Result<Reader, RecordError> {
        let mut pool = self.lock();
        loop {
            if let Some(reader) = pool.idle.pop() {
                pool.lent += 1;
                return Ok(reader);
            }
            if pool.lent < READERS_MAX {
                pool.lent += 1;
                drop(pool);
                return Reader::new(self.file.as_deref()).inspect_err(|_| {
                    self.lock().lent -= 1;
                    self.returned.notify_one();
                });
            }
            pool = self
                .returned
                .wait(pool)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pool> {
        // The pool is whole between any two statements, whatever a thread that held it did.
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks at the tables as they stand at one moment, with what is not made yet.
fn look<T>(
    conn: &Connection,
    made: Made,
    ask: impl FnOnce(&Transaction<'_>) -> Result<T, RecordError>,
) -> Result<T, RecordError> {
    match made {
        Made::Stands => ask(&begin(conn, TransactionBehavior::Deferred)?),
        Made::Apart => {
            conn.pragma_update(None, "query_only", false)?;
            let answer = look_apart(conn, ask);
            conn.pragma_update(None, "query_only", true)?;
            answer
        }
    }
}

/// Makes what is not made yet and looks at it, in a transaction that ends without a trace.
fn look_apart<T>(
    conn: &Connection,
    ask: impl FnOnce(&Transaction<'_>) -> Result<T, RecordError>,
) -> Result<T, RecordError> {
    let tx = begin(conn, TransactionBehavior::Immediate)?;
    Maker::default().make_all(&tx)?;
    ask(&tx)
}

fn begin(conn: &Connection, behavior: TransactionBehavior) -> Result<Transaction<'_>, RecordError> {
    Ok(Transaction::new_unchecked(conn, behavior)?)
}

/// A reader that goes back when it is dropped.
struct Lent<'a> {
    reader: Option<Reader>,
    readers: &'a Readers,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut pool = self.readers.lock();
        pool.lent -= 1;
        pool.idle.extend(self.reader.take());
        drop(pool);
        self.readers.returned.notify_one();
    }
}
