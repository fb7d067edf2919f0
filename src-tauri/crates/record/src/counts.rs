//! What a database holds, in numbers: read without opening it as a record, so that one that is damaged or newer is told
//! of and left as it is.

use std::collections::BTreeMap;
use std::path::Path;

use protocol::{CallState, EventBody, SessionState};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Row};
use serde::de::DeserializeOwned;

use crate::open::{check_file, open_connection, reject_newer_format};
use crate::schema::read_format;
use crate::{Record, RecordError};

/// The types of events, each with an event of it, whatever its session.
const COUNT_EVENTS: &str = "SELECT body, count(*) FROM events GROUP BY type";
const COUNT_SESSIONS: &str =
    "SELECT view -> '$.state', count(*) FROM sessions WHERE view IS NOT NULL GROUP BY 1";
const COUNT_CALLS: &str =
    "SELECT json_quote(state), count(*) FROM entries WHERE state IS NOT NULL GROUP BY state";

/// What a database holds, in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// Number of events by the name of their kind.
    pub events: BTreeMap<&'static str, u64>,
    /// Number of events of kinds that this version does not know.
    pub unknown_events: u64,
    /// Number of sessions in each state that one is in.
    pub sessions: Vec<StateCount<SessionState>>,
    /// Number of calls in each state that one is in.
    pub calls: Vec<StateCount<CallState>>,
}

/// How many are in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateCount<S> {
    /// The state.
    pub state: S,
    /// How many are in it.
    pub count: u64,
}

impl Record {
    /// Counts what the database `file` holds. Others may record meanwhile.
    ///
    /// # Errors
    /// The database is damaged, newer, or something else.
    pub fn count(file: &Path) -> Result<RecordCounts, RecordError> {
        check_file(file)?;
        let conn = open_connection(file)?;
        // What a crash left in the log stays there for a rescue.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        conn.pragma_update(None, "query_only", true)?;
        reject_newer_format(file, read_format(&conn)?)?;
        let mut counts = RecordCounts {
            sessions: count_states(&conn, COUNT_SESSIONS)?,
            calls: count_states(&conn, COUNT_CALLS)?,
            ..RecordCounts::default()
        };
        for (body, count) in query_counts(&conn, COUNT_EVENTS)? {
            match serde_json::from_str::<EventBody>(&body) {
                Ok(event) => *counts.events.entry(event.name()).or_default() += count,
                Err(_) => counts.unknown_events += count,
            }
        }
        Ok(counts)
    }
}

/// Counts by state; a state that this version does not know is left out.
fn count_states<S: DeserializeOwned>(
    conn: &Connection,
    sql: &str,
) -> Result<Vec<StateCount<S>>, RecordError> {
    let counts = query_counts(conn, sql)?.into_iter();
    let known = counts.filter_map(|(state, count)| {
        let state = serde_json::from_str(&state).ok()?;
        Some(StateCount { state, count })
    });
    Ok(known.collect())
}

/// Returns the rows of a query of a JSON text and a count.
fn query_counts(conn: &Connection, sql: &str) -> Result<Vec<(String, u64)>, RecordError> {
    let mut statement = conn.prepare(sql)?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()));
    let rows = statement.query_map([], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}
