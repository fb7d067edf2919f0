//! A record in a folder of its own, and what it published.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use protocol::event::fold;
use protocol::{Entry, Event, EventBody, SessionId};
use record::{Durability, Record, RecordError};
use rusqlite::Connection;
use tempfile::TempDir;

/// A record in a temporary folder, with everything that it published.
pub struct Desk {
    pub record: Record,
    pub published: Published,
    pub folder: TempDir,
    at: i64,
}

impl Desk {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (record, published) = open(folder.path().join("record.db")).unwrap();
        Self {
            record,
            published,
            folder,
            at: 0,
        }
    }

    pub fn from_parts(record: Record, published: Published, folder: TempDir) -> Self {
        Self {
            record,
            published,
            folder,
            at: 0,
        }
    }

    pub fn file(&self) -> PathBuf {
        self.folder.path().join("record.db")
    }

    /// Closes the database and opens it again, as the next start of the app does.
    pub fn reopen(self) -> Self {
        let Self { folder, at, .. } = self;
        let (record, published) = open(folder.path().join("record.db")).unwrap();
        Self {
            record,
            published,
            folder,
            at,
        }
    }

    /// Records one event, one second after the last; gives its position.
    pub fn tell(&mut self, session: &str, body: EventBody) -> u64 {
        self.try_tell(session, body).unwrap()
    }

    pub fn try_tell(&mut self, session: &str, body: EventBody) -> Result<u64, RecordError> {
        self.at += 1000;
        let ack = self
            .record
            .append(session.into(), self.at, body, Durability::Batched);
        ack.wait()
    }

    pub fn tell_all(&mut self, session: &str, bodies: impl IntoIterator<Item = EventBody>) {
        let mut last = None;
        for body in bodies {
            self.at += 1000;
            last = Some(
                self.record
                    .append(session.into(), self.at, body, Durability::Batched),
            );
        }
        if let Some(ack) = last {
            ack.wait().unwrap();
        }
    }

    pub fn published(&self) -> Vec<Event> {
        self.published.lock().unwrap().clone()
    }

    pub fn events(&self) -> Vec<Event> {
        self.record.events(0, None, u32::MAX).unwrap()
    }
}

/// How many events and entries are there of which something is owed, as the tables of a record say: events of which nothing
/// was made yet, and entries without their JSON and their words.
pub fn owed(file: &Path) -> i64 {
    let (events, entries) = owed_apart(file);
    events + entries
}

/// The same, apart.
pub fn owed_apart(file: &Path) -> (i64, i64) {
    let conn = Connection::open(file).unwrap();
    // At one moment.
    let count = "SELECT (SELECT coalesce(max(seq), 0) FROM events) - (SELECT upto FROM projected), \
         (SELECT count(*) FROM entries WHERE indexed = 2)";
    conn.query_row(count, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
}

/// Events that a record published so far.
pub type Published = Arc<Mutex<Vec<Event>>>;

pub fn open(file: PathBuf) -> Result<(Record, Published), RecordError> {
    let published = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&published);
    let record = Record::open(
        &file,
        Box::new(move |events| heard.lock().unwrap().extend_from_slice(&events)),
    )?;
    Ok((record, published))
}

/// The entries of a session by the pure fold alone, in their order.
pub fn folded(events: &[Event], session: &SessionId) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for event in events.iter().filter(|event| event.session == *session) {
        let Some(id) = fold::entry_id(event) else {
            continue;
        };
        let place = entries.iter().position(|entry| entry.id == id);
        let before = place.map(|place| entries.remove(place));
        entries.extend(fold::fold_entry(before, event));
    }
    entries.sort_by_key(|entry| entry.seq);
    entries
}
