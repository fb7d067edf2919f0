//! Damaged databases, of which everything that can be read is saved.

use std::fs;
use std::path::{Path, PathBuf};

use protocol::Event;
use protocol::event::SessionEvent;
use protocol::session::deletion::DeletionHost;
use protocol::{EventBody, SessionId};
use record::{Record, RecordError, Rescued};
use tempfile::TempDir;

use crate::sample_events;
use crate::support::{Desk, open};

const PAGE_BYTES: usize = 8192;
const SESSIONS: [&str; 2] = ["ses_1", "ses_2"];
/// Messages of each session.
const MESSAGES: usize = 400;

/// A record with two sessions that took turns, over many pages, and its events.
fn record() -> (Desk, Vec<Event>) {
    let mut desk = Desk::new();
    for session in SESSIONS {
        desk.tell(
            session,
            sample_events::opened(&format!("Title of {session}")),
        );
    }
    for number in 0..MESSAGES {
        for session in SESSIONS {
            let text = format!("message {number} of {session} {}", "x".repeat(300));
            desk.tell(session, sample_events::said(&format!("m{number}"), &text));
        }
    }
    let events = desk.events();
    (desk, events)
}

/// A copy of the closed database, with each page that holds one of these texts, or each but the first two, overwritten.
fn damage(desk: Desk, texts: &[&str]) -> TempDir {
    let Desk { folder, record, .. } = desk;
    drop(record);
    let file = folder.path().join("record.db");
    let mut bytes = fs::read(&file).unwrap();
    let mut damaged = 0;
    for page in bytes.chunks_mut(PAGE_BYTES) {
        // The page of an event, not one of the index or of the rows made from it.
        let holds =
            |text: &str| find(page, text) && find(page, r#""type":"#) && !find(page, r#""body":"#);
        if texts.iter().any(|text| holds(text)) {
            page.fill(0xa5);
            damaged += 1;
        }
    }
    assert!(damaged > 0, "{texts:?} are on no page");
    fs::write(&file, bytes).unwrap();
    folder
}

fn find(page: &[u8], text: &str) -> bool {
    page.windows(text.len()).any(|at| at == text.as_bytes())
}

fn rescue(folder: &Path) -> (Rescued, Vec<Event>, Record) {
    let new = folder.join("rescued.db");
    let rescued = Record::rescue(&folder.join("record.db"), &new).unwrap();
    let (record, _) = open(new).unwrap();
    let events = record.events(0, None, u32::MAX).unwrap();
    (rescued, events, record)
}

fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn all_but_the_events_on_the_damaged_pages_are_saved() {
    let (desk, events) = record();
    let folder = damage(desk, &["message 100 of ses_1 ", "message 300 of ses_2 "]);
    let before = files(folder.path());
    let (rescued, saved, record) = rescue(folder.path());
    assert_eq!(files(folder.path())[..before.len()], before[..]);

    let is_lost = |event: &&Event| rescued.lost.iter().any(|lost| lost.contains(&event.seq));
    let (lost, kept): (Vec<_>, Vec<_>) = events.iter().partition(is_lost);
    assert_eq!(saved.iter().collect::<Vec<_>>(), kept);
    assert_eq!(rescued.lost.len(), 2, "{rescued:?}");
    assert_eq!(rescued.lost_count(), lost.len() as u64);
    assert!((2..100).contains(&lost.len()), "{rescued:?}");
    assert_eq!((rescued.events, rescued.sessions), (kept.len() as u64, 2));

    let sessions = record.sessions().unwrap();
    let titles: Vec<_> = sessions
        .iter()
        .map(|session| session.title.as_str())
        .collect();
    assert_eq!(titles, ["Title of ses_2", "Title of ses_1"]);
    for (text, found) in [("message 399 ses_1", 1), ("message 100 ses_1", 0)] {
        assert_eq!(
            record.search(text, 0, 0, 10).unwrap().total,
            found,
            "{text}"
        );
    }
}

#[test]
fn a_session_whose_beginning_is_lost_gets_another() {
    let (desk, _) = record();
    let folder = damage(desk, &["Title of ses_1"]);
    let (rescued, events, record) = rescue(folder.path());
    assert_eq!(rescued.sessions, 2);
    let sessions = record.sessions().unwrap();
    assert!(
        sessions
            .iter()
            .all(|session| session.title == "Rescued session"),
        "{sessions:?}"
    );
    for session in SESSIONS {
        let own: Vec<_> = events
            .iter()
            .filter(|event| event.session.as_str() == session)
            .collect();
        assert!(own.len() > MESSAGES / 2, "{session}");
        assert!(matches!(
            own[0].body,
            EventBody::Session(SessionEvent::Opened { .. })
        ));
        assert_eq!(
            record
                .events(0, Some(&SessionId::from(session)), u32::MAX)
                .unwrap()
                .len(),
            own.len()
        );
    }
}

#[test]
fn what_is_only_in_the_log_of_a_crash_is_saved_and_a_header_is_restored() {
    let (desk, events) = record();
    let folder = tempfile::tempdir().unwrap();
    for name in ["record.db", "record.db-wal"] {
        fs::copy(desk.folder.path().join(name), folder.path().join(name)).unwrap();
    }
    let (rescued, saved, _) = rescue(folder.path());
    assert_eq!((saved, rescued.lost), (events, Vec::new()));

    let folder = tempfile::tempdir().unwrap();
    let Desk {
        folder: closed,
        record,
        ..
    } = desk;
    drop(record);
    let mut bytes = fs::read(closed.path().join("record.db")).unwrap();
    bytes[..16].fill(b'?');
    fs::write(folder.path().join("record.db"), bytes).unwrap();
    let (rescued, _, _) = rescue(folder.path());
    assert_eq!(
        (rescued.events, rescued.lost),
        (2 + 2 * MESSAGES as u64, Vec::new())
    );
}

#[test]
fn a_deleted_session_stays_deleted() {
    let (mut desk, _) = record();
    let deleted = SessionEvent::Deleted {
        host: DeletionHost::Window,
        calls: 0,
    };
    desk.tell("ses_1", EventBody::Session(deleted));
    let folder = damage(desk, &["message 100 of ses_2 "]);
    let (_, _, record) = rescue(folder.path());
    record.wait_until_erased().unwrap();
    let left = record
        .events(0, Some(&SessionId::from("ses_1")), u32::MAX)
        .unwrap();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn what_cannot_be_rescued_is_told_and_nothing_is_left_behind() {
    let (desk, _) = record();
    let Desk { folder, record, .. } = desk;
    drop(record);
    let file = folder.path().join("record.db");
    let whole = fs::read(&file).unwrap();
    let mut without_tables = whole.clone();
    without_tables[100..PAGE_BYTES].fill(0xa5);
    let mut of_another = whole.clone();
    of_another[68..72].fill(b'?');
    let mut newer = whole.clone();
    newer[60..64].copy_from_slice(&9_999_u32.to_be_bytes());
    for (bytes, is_expected) in [
        (
            without_tables,
            (|error| matches!(error, RecordError::Damaged { .. })) as fn(&RecordError) -> bool,
        ),
        (of_another, |error| {
            matches!(error, RecordError::NotARecord { .. })
        }),
        (newer, |error| matches!(error, RecordError::Newer { .. })),
        (Vec::new(), |error| {
            matches!(error, RecordError::Damaged { .. })
        }),
    ] {
        fs::write(&file, &bytes).unwrap();
        let error = Record::rescue(&file, &folder.path().join("new.db")).unwrap_err();
        assert!(is_expected(&error), "{error:?}");
        assert_eq!(files(folder.path()), [(file.clone(), bytes)]);
    }
    fs::write(&file, whole).unwrap();
    let error = Record::rescue(&file, &file).unwrap_err();
    assert!(matches!(error, RecordError::CannotCopy { .. }), "{error:?}");
    assert!(error.to_user_error().message.contains("record.db"));
}
