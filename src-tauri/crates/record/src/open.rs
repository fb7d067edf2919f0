//! Opening a database: checks a file before it is touched, refuses one that is not ours or too new, then opens
//! connections.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::limits::{BUSY_TIMEOUT_MS, PAGE_BYTES, WAL_PAGES};
use crate::schema::{APPLICATION_ID, MIGRATIONS, migrate, read_format};
use crate::{RecordError, schema};

/// Opens the database for the writer: a new one is made, an older one brought up to this format, anything else refused
/// untouched.
pub(crate) fn open_writer(file: &Path) -> Result<Connection, RecordError> {
    match is_blank_database(file) {
        true => create_private_file(file),
        false => check_file(file)?,
    }
    let mut conn = open_connection(file)?;
    // The log of a crash may hold what the look could not see: a newer format, or the damage. Until that is known,
    // closing must not copy the log into the file.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let format = read_format(&conn)?;
    reject_newer_format(file, format)?;
    if format > 0 {
        check_tables(&conn)?;
    }
    // Holds for a new database only. Half as many pages for a burst of events as with the usual size.
    conn.pragma_update(None, "page_size", PAGE_BYTES)?;
    conn.pragma_update(None, "journal_mode", "wal")?;
    conn.pragma_update(None, "synchronous", "normal")?;
    conn.pragma_update(None, "wal_autocheckpoint", WAL_PAGES)?;
    conn.pragma_update(None, "cache_size", -16_000)?;
    if migrate(&mut conn, MIGRATIONS)? {
        // So that the file's own header names its format, for the look of an older version.
        conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    }
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    Ok(conn)
}

/// Opens the database, which the writer has made, for reading.
pub(crate) fn open_reader(file: &Path) -> Result<Connection, RecordError> {
    let conn = open_connection(file)?;
    conn.pragma_update(None, "query_only", true)?;
    // Data that a reader makes for itself alone never reaches the disk.
    conn.pragma_update(None, "cache_spill", false)?;
    Ok(conn)
}

pub(crate) fn open_connection(file: &Path) -> Result<Connection, RecordError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(file, flags).map_err(|e| open_error(file, e))?;
    conn.busy_timeout(Duration::from_millis(BUSY_TIMEOUT_MS))?;
    conn.set_prepared_statement_cache_capacity(64);
    Ok(conn)
}

/// Makes the empty file, for its owner alone: its log gets the same permissions. Where this fails, opening says why.
fn create_private_file(file: &Path) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    drop(options.open(file));
}

/// Reads the file as it stands, without locks, log or any trace, and refuses one that is not ours.
pub(crate) fn check_file(file: &Path) -> Result<(), RecordError> {
    let foreign = |reason: &str| RecordError::NotARecord {
        file: file.to_owned(),
        reason: reason.to_owned(),
    };
    // SQLite would take a file that is shorter than its header for an empty one.
    if file_starts_with(file, SQLITE_MAGIC) == Some(false) {
        return Err(foreign("it is not an SQLite database"));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn =
        Connection::open_with_flags(immutable_uri(file), flags).map_err(|e| open_error(file, e))?;
    let query_number = |sql| conn.query_row(sql, [], |row| row.get::<_, i64>(0));
    let id = query_number("PRAGMA application_id")?;
    let format = read_format(&conn)?;
    if id == i64::from(APPLICATION_ID) {
        reject_newer_format(file, format)?;
        // With a log beside it, the file alone may be between two states; then it is probed through the log.
        let logged = std::fs::metadata(wal_path(file)).is_ok_and(|log| log.len() > 0);
        return if logged { Ok(()) } else { check_tables(&conn) };
    }
    // A file that another program, or our own first start, left without any content is as good as none.
    if id == 0 && format == 0 && query_number("SELECT count(*) FROM sqlite_schema")? == 0 {
        return Ok(());
    }
    Err(foreign("it is the database of another program"))
}

/// How every SQLite database begins.
pub(crate) const SQLITE_MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Whether a file begins with some bytes; none if it cannot be read.
fn file_starts_with(file: &Path, bytes: &[u8]) -> Option<bool> {
    let mut start = Vec::new();
    let file = std::fs::File::open(file).ok()?;
    file.take(bytes.len() as u64).read_to_end(&mut start).ok()?;
    Some(start == bytes)
}

/// Whether a database holds nothing, in its file and in its log.
pub(crate) fn is_blank_database(file: &Path) -> bool {
    let holds = |file: &Path| {
        std::fs::metadata(file).is_ok_and(|metadata| metadata.is_dir() || metadata.len() > 0)
    };
    !holds(file) && !holds(&wal_path(file))
}

pub(crate) fn wal_path(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push("-wal");
    PathBuf::from(name)
}

pub(crate) fn reject_newer_format(file: &Path, version: i64) -> Result<(), RecordError> {
    let newest = i64::try_from(schema::MIGRATIONS.len()).unwrap_or(i64::MAX);
    if version > newest {
        return Err(RecordError::Newer {
            file: file.to_owned(),
            found: version,
            known: newest,
        });
    }
    Ok(())
}

/// Reads the ends of the tables, which a cut-off or overwritten file no longer has.
fn check_tables(conn: &Connection) -> Result<(), RecordError> {
    for sql in [
        "SELECT total(length(body)) FROM (SELECT body FROM events ORDER BY seq DESC LIMIT 64)",
        "SELECT total(length(entry)) FROM (SELECT entry FROM folded ORDER BY seq DESC LIMIT 64)",
        "SELECT total(seq) FROM (SELECT seq FROM entries WHERE state = 'waiting')",
        "SELECT total(length(view)) FROM sessions",
        "SELECT total(seq) FROM (SELECT seq FROM undo_entries ORDER BY seq DESC LIMIT 64)",
        "SELECT total(rowid) FROM (SELECT rowid FROM words LIMIT 1)",
    ] {
        conn.query_row(sql, [], |_| Ok(()))
            .map_err(|error| match RecordError::from(error) {
                RecordError::Other(error) => RecordError::Damaged {
                    reason: error.to_string(),
                },
                error => error,
            })?;
    }
    Ok(())
}

fn open_error(file: &Path, error: rusqlite::Error) -> RecordError {
    match RecordError::from(error) {
        RecordError::Other(source) => RecordError::CannotOpen {
            file: file.to_owned(),
            source,
        },
        error @ (RecordError::Full(_)
        | RecordError::Newer { .. }
        | RecordError::NotARecord { .. }
        | RecordError::Damaged { .. }
        | RecordError::CannotOpen { .. }
        | RecordError::CannotCopy { .. }
        | RecordError::Busy(_)
        | RecordError::Overloaded
        | RecordError::Closed
        | RecordError::Serialize(_)) => error,
    }
}

/// Bytes that SQLite reads as they are in a URI's path.
const URI_PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b':')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_');

/// The file as a URI that opens it as if nobody ever wrote to it.
fn immutable_uri(file: &Path) -> String {
    let path = file.to_string_lossy().replace('\\', "/");
    // A drive letter needs a slash before it.
    let slash = if path.as_bytes().get(1) == Some(&b':') {
        "/"
    } else {
        ""
    };
    let path = utf8_percent_encode(&path, URI_PATH);
    format!("file:{slash}{path}?immutable=1")
}

/// Opens a connection to an empty database in memory, for marking matches.
pub(crate) fn open_marker_database() -> Result<Connection, RecordError> {
    Connection::open_in_memory().map_err(|error| RecordError::Other(Arc::new(error)))
}

/// Opens a connection to a database in memory that has every table and no rows.
pub(crate) fn open_empty() -> Result<Connection, RecordError> {
    let mut conn = open_marker_database()?;
    migrate(&mut conn, MIGRATIONS)?;
    Ok(conn)
}
