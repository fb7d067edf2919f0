//! The rows of the log: events are written several to a statement, because a statement costs more than a row of it.

use std::ops::Range;

use protocol::{At, Event};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection};

use crate::RecordError;
use crate::projections::statements;
use crate::projections::statements::seq_to_sql;

/// Rows to a statement.
const ROWS_PER_STATEMENT: usize = 16;
/// Values to a row.
const VALUES_PER_ROW: usize = 6;

/// Events on their way into the log.
pub(crate) struct EventInserter<'c> {
    many: CachedStatement<'c>,
    one: CachedStatement<'c>,
    rows: Vec<EventRow>,
    /// Their JSON, one after the other.
    bodies: Vec<u8>,
}

struct EventRow {
    seq: u64,
    session: i64,
    entry: Option<u64>,
    at: At,
    name: &'static str,
    /// Where its JSON stands.
    body: Range<usize>,
}

impl<'c> EventInserter<'c> {
    pub(crate) fn new(conn: &'c Connection) -> Result<Self, RecordError> {
        let row = format!("({})", ["?"; VALUES_PER_ROW].join(","));
        let rows = [row.as_str(); ROWS_PER_STATEMENT].join(",");
        Ok(Self {
            many: conn.prepare_cached(&format!("INSERT INTO events VALUES {rows}"))?,
            one: conn.prepare_cached(&format!("INSERT INTO events VALUES {row}"))?,
            rows: Vec::with_capacity(ROWS_PER_STATEMENT),
            bodies: Vec::with_capacity(16 * 1024),
        })
    }

    /// Adds an event. `place` takes its stored length and returns the keys of its session and its entry.
    pub(crate) fn push_event(
        &mut self,
        event: &Event,
        place: impl FnOnce(usize) -> Result<(i64, Option<u64>), RecordError>,
    ) -> Result<(), RecordError> {
        let start = self.bodies.len();
        statements::write_json(&mut self.bodies, &event.body)?;
        let body = start..self.bodies.len();
        let (session, entry) = place(body.len())?;
        self.rows.push(EventRow {
            seq: event.seq,
            session,
            entry,
            at: event.at,
            name: event.body.name(),
            body,
        });
        if self.rows.len() == ROWS_PER_STATEMENT {
            for (place, row) in self.rows.iter().enumerate() {
                bind_rows(&mut self.many, place * VALUES_PER_ROW, row, &self.bodies)?;
            }
            self.many.raw_execute()?;
            self.rows.clear();
            self.bodies.clear();
        }
        Ok(())
    }

    /// Writes the remaining rows, which did not fill a statement.
    pub(crate) fn flush_rest(mut self) -> Result<(), RecordError> {
        for row in &self.rows {
            bind_rows(&mut self.one, 0, row, &self.bodies)?;
            self.one.raw_execute()?;
        }
        Ok(())
    }
}

/// Binds the values of a row after the first `known` of a statement.
fn bind_rows(
    statement: &mut CachedStatement<'_>,
    offset: usize,
    row: &EventRow,
    bodies: &[u8],
) -> Result<(), RecordError> {
    // JSON is UTF-8 as it is written; SQLite takes it in bytes.
    let body = bodies.get(row.body.clone()).unwrap_or_default();
    let body = ToSqlOutput::Borrowed(ValueRef::Text(body));
    statement.raw_bind_parameter(offset + 1, seq_to_sql(row.seq))?;
    statement.raw_bind_parameter(offset + 2, row.session)?;
    statement.raw_bind_parameter(offset + 3, row.entry.map(seq_to_sql))?;
    statement.raw_bind_parameter(offset + 4, row.at)?;
    statement.raw_bind_parameter(offset + 5, row.name)?;
    statement.raw_bind_parameter(offset + 6, body)?;
    Ok(())
}
