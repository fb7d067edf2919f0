//! Errors of the record, in a person's words and in ours.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use protocol::UserError;
use rusqlite::ErrorCode;

/// The reason why the record could not do what it was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RecordError {
    /// The disk, or the space that the database may take, is full. Acknowledged events are kept; later appends work
    /// again once there is room.
    #[error("the disk is full")]
    Full(#[source] Arc<rusqlite::Error>),
    /// The database was written by a later version. It was not touched.
    #[error("{} has format {found}, newer than {known}", file.display())]
    Newer {
        /// The database.
        file: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format that this version knows.
        known: i64,
    },
    /// The file is not a database, or another program's. It was not touched.
    #[error("{} is not a record: {reason}", file.display())]
    NotARecord {
        /// The file.
        file: PathBuf,
        /// Content that was found instead.
        reason: String,
    },
    /// The database is damaged.
    #[error("the record is damaged: {reason}")]
    Damaged {
        /// The part that could not be read.
        reason: String,
    },
    /// The database could not be opened.
    #[error("{} cannot be opened", file.display())]
    CannotOpen {
        /// The database.
        file: PathBuf,
        /// Why.
        #[source]
        source: Arc<rusqlite::Error>,
    },
    /// A copy of a database could not be made.
    #[error("{} cannot be copied", file.display())]
    CannotCopy {
        /// The file that could not be read or written.
        file: PathBuf,
        /// Why.
        #[source]
        source: Arc<io::Error>,
    },
    /// Another process held the database for too long.
    #[error("the record is in use by another process")]
    Busy(#[source] Arc<rusqlite::Error>),
    /// More events wait than the record can take.
    #[error("too many events wait to be recorded")]
    Overloaded,
    /// The writer has ended.
    #[error("the record is closed")]
    Closed,
    /// An event cannot be written as JSON.
    #[error("an event cannot be written: {0}")]
    Serialize(#[source] Arc<serde_json::Error>),
    /// Anything else that the database reports.
    #[error("the record failed")]
    Other(#[source] Arc<rusqlite::Error>),
}

impl RecordError {
    /// The error as a person reads it.
    pub fn to_user_error(&self) -> UserError {
        let (message, hint) = match self {
            Self::Full(_) => (
                "The disk is full, so this could not be recorded.".to_owned(),
                "Everything recorded before is kept. Make room on the disk, then go on.",
            ),
            Self::Newer { file, found, known } => (
                format!(
                    "The record {} was written by a newer version of Countersign (format {found}; this version knows up to {known}).",
                    file.display()
                ),
                "Install that version or a later one, or choose another data folder. The record was not changed.",
            ),
            Self::NotARecord { file, reason } => (
                format!(
                    "The file {} is not a Countersign record: {reason}.",
                    file.display()
                ),
                "Move it away or choose another data folder. If it is a record whose beginning is damaged: countersign record rescue. The file was not changed.",
            ),
            Self::Damaged { reason } => (
                format!("The record is damaged: {reason}."),
                "Save what can be read of it: countersign record rescue. Or restore a backup: countersign data restore.",
            ),
            Self::CannotOpen { file, .. } => (
                format!("The record {} cannot be opened.", file.display()),
                "Check that its folder exists and that you may write to it.",
            ),
            Self::CannotCopy { file, .. } => (
                format!("The record cannot be copied: {}.", file.display()),
                "Check that the record is there, and that its copy goes to a file that does not exist yet, in a folder with enough room.",
            ),
            Self::Busy(_) => (
                "The record is in use by another process.".to_owned(),
                "Close the other Countersign that uses this data folder, then try again.",
            ),
            Self::Overloaded => (
                "Events come faster than they can be recorded.".to_owned(),
                "Wait a moment, then go on.",
            ),
            Self::Closed => (
                "The record is closed.".to_owned(),
                "Start Countersign again.",
            ),
            Self::Serialize(_) => (
                "An event could not be written.".to_owned(),
                "This is a fault of Countersign; please report it.",
            ),
            Self::Other(_) => (
                "The record could not be read or written.".to_owned(),
                "Check the disk that holds the data folder.",
            ),
        };
        UserError::new(message, hint).with_source(self)
    }
}

impl From<RecordError> for UserError {
    fn from(error: RecordError) -> Self {
        error.to_user_error()
    }
}

impl From<rusqlite::Error> for RecordError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full(Arc::new(error)),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Busy(Arc::new(error))
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged {
                reason: error.to_string(),
            },
            _ => Self::Other(Arc::new(error)),
        }
    }
}

/// A stored value that does not have the shape that was written.
pub(crate) fn damaged_value_error(what: &str, error: &dyn std::fmt::Display) -> RecordError {
    RecordError::Damaged {
        reason: format!("{what}: {error}"),
    }
}
