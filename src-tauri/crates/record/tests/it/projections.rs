//! Tables that are derived a little after events are acknowledged: whenever that happens and whichever process does it, they
//! end up the same, and nobody who asks sees the difference.

use std::path::Path;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use protocol::{CallState, Entry, EventBody, SessionId};
use record::{Durability, Record};
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::log::any_body;
use crate::sample_events;
use crate::support::{Desk, folded, open, owed, owed_apart};

const SESSION: &str = "ses_1";

/// Every table that is made from the events, row by row; but of an entry's JSON and words, which an entry that is not over
/// may have or not.
fn tables(file: &Path) -> Vec<(&'static str, Vec<Vec<Value>>)> {
    let conn = Connection::open(file).unwrap();
    let read = |sql: &str| {
        let mut statement = conn.prepare(sql).unwrap();
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| (0..columns).map(|at| row.get(at)).collect();
        let rows = statement.query_map([], row).unwrap();
        rows.map(Result::unwrap).collect()
    };
    [
        ("sessions", "SELECT * FROM sessions ORDER BY key"),
        (
            "entries",
            "SELECT seq, session, id, at, body, state, mode, kind, tool, target, paths FROM entries ORDER BY seq",
        ),
        ("undo", "SELECT * FROM undo_entries ORDER BY seq"),
        ("verdicts", "SELECT * FROM verdicts ORDER BY entry"),
        ("rule_hits", "SELECT * FROM rule_hits ORDER BY rule, session"),
        ("events", "SELECT seq, session, entry FROM events"),
    ]
    .map(|(name, sql)| (name, read(sql)))
    .into()
}

/// The calls that nobody had to decide, and one that somebody did and that was taken back.
fn work() -> Vec<EventBody> {
    let mut told = vec![
        sample_events::opened("Works"),
        sample_events::turn(1, "msg_1"),
    ];
    for n in 0..3 {
        told.extend(sample_events::read_call(
            &format!("c{n}"),
            "a.rs",
            "fn main() {}",
        ));
    }
    told.extend([
        sample_events::proposed("d1", "delete_path", serde_json::json!({})),
        sample_events::judged("d1", "delete_path", "tests/old"),
        sample_events::waits("d1"),
        sample_events::decided("d1", "it is old"),
        sample_events::undo_prepared("d1", "und_1"),
        sample_events::started("d1"),
        sample_events::output("d1", "gone"),
        sample_events::ended("d1", CallState::Done, "deleted"),
        sample_events::undone("d1", "und_1"),
        sample_events::agent_said("msg_1", "That was all.", false),
        sample_events::turn_ended(1, "msg_1"),
    ]);
    told
}

#[test]
fn the_tables_are_the_same_whenever_they_are_made() {
    let mut at_once = Desk::new();
    for body in work() {
        at_once.tell(SESSION, body);
        assert!(at_once.record.session(&SESSION.into()).unwrap().is_some());
        assert_eq!(owed_apart(&at_once.file()).0, 0, "whoever asks has it made");
    }
    let mut late = Desk::new();
    late.tell_all(SESSION, work());
    assert_eq!(late.record.undo_entries(0, 9).unwrap().0.len(), 1);
    let by_a_question = tables(&late.file());
    let (at_once, late) = (at_once.reopen(), late.reopen());
    assert_eq!(tables(&late.file()), tables(&at_once.file()));
    assert_eq!(tables(&late.file()), by_a_question);
    let written = |desk: &Desk| {
        let conn = Connection::open(desk.file()).unwrap();
        let sql = "SELECT count(*), total(length(entry)), (SELECT count(*) FROM words_docsize) FROM folded";
        conn.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .unwrap()
    };
    let all: (i64, f64, i64) = written(&late);
    assert_eq!(all, written(&at_once));
    assert_eq!((all.0, all.2), (5, 5), "four calls and a message");
}

#[test]
fn a_process_makes_what_another_left() {
    let mut desk = Desk::new();
    desk.tell(SESSION, sample_events::opened("Shared"));
    let (other, _) = open(desk.file()).unwrap();
    let whole = |record: &Record, events: &[protocol::Event]| {
        let session = SessionId::from(SESSION);
        let (entries, _) = record.transcript_before(&session, None, 500).unwrap();
        assert_eq!(entries, folded(events, &session));
    };
    for round in 0..8 {
        let call = format!("c{round}");
        let [proposed, judged, started, ended] =
            sample_events::read_call(&call, "a.rs", "fn main() {}");
        desk.tell_all(SESSION, [proposed, judged]);
        // The other one makes the call's row, asked or because it goes on with the call.
        if round % 2 == 0 {
            whole(&other, &desk.events());
        }
        let ack = other.append(SESSION.into(), 1, started, Durability::Batched);
        ack.wait().unwrap();
        if round % 4 < 2 {
            whole(&other, &desk.events());
        }
        desk.tell(SESSION, ended);
        let events = desk.events();
        let of_the_call = events
            .iter()
            .filter(|event| event.seq + 4 > events.len() as u64);
        assert_eq!(of_the_call.count(), 4);
        let told = desk
            .record
            .call_events(&SESSION.into(), &call.as_str().into(), 0);
        assert_eq!(told.unwrap(), events[events.len() - 4..]);
        whole(&other, &events);
        whole(&desk.record, &events);
    }
    drop(other);
    let desk = desk.reopen();
    assert_eq!(owed(&desk.file()), 0);
    assert_eq!(desk.record.search("main", 0, 0, 1).unwrap().total, 8);
}

/// A page says up to which event it holds: whoever goes on from there has every event once.
#[test]
fn a_page_holds_the_events_up_to_its_position_and_no_others() {
    let mut desk = Desk::new();
    desk.tell(SESSION, sample_events::opened("Streams"));
    desk.tell(SESSION, sample_events::turn(1, "msg_1"));
    let session = SessionId::from(SESSION);
    let record = desk.record.clone();
    std::thread::scope(|scope| {
        let streams = scope.spawn(move || {
            for n in 0..1500 {
                let piece = sample_events::agent_said("msg_1", &format!("{n} "), false);
                let ack = record.append(SESSION.into(), n, piece, Durability::Batched);
                ack.wait().unwrap();
            }
        });
        let mut pages = 0;
        while !streams.is_finished() || pages == 0 {
            let acknowledged = desk.record.last_seq().unwrap();
            let page = desk
                .record
                .transcript_page_before(&session, None, 10)
                .unwrap();
            assert!(page.seq >= acknowledged);
            let mut events = desk.events();
            events.retain(|event| event.seq <= page.seq);
            assert_eq!(page.entries, folded(&events, &session));
            pages += 1;
        }
    });
}

#[test]
fn a_question_from_where_events_are_published_is_answered() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db");
    let asks: Arc<Mutex<Option<Record>>> = Arc::default();
    let titles = Arc::new(Mutex::new(Vec::new()));
    let (asked, heard) = (Arc::clone(&asks), Arc::clone(&titles));
    let publish = move |_| {
        if let Some(record) = &*asked.lock().unwrap() {
            let sessions = record.sessions().unwrap().into_iter();
            heard
                .lock()
                .unwrap()
                .extend(sessions.map(|view| view.title));
        }
    };
    let record = Record::open(&file, Box::new(publish)).unwrap();
    *asks.lock().unwrap() = Some(record.clone());
    let ack = record.append(
        SESSION.into(),
        1,
        sample_events::opened("New"),
        Durability::OnDisk,
    );
    ack.wait().unwrap();
    assert_eq!(*titles.lock().unwrap(), ["New"]);
    asks.lock().unwrap().take();
}

/// Without the row that says what is made, nothing is guessed.
#[test]
fn a_record_that_does_not_know_what_is_made_says_so() {
    let mut desk = Desk::new();
    desk.tell_all(SESSION, work());
    desk = desk.reopen();
    let conn = Connection::open(desk.file()).unwrap();
    conn.execute_batch("DELETE FROM projected").unwrap();
    let error = desk.record.sessions().unwrap_err();
    assert!(
        matches!(error, record::RecordError::Damaged { .. }),
        "{error:?}"
    );
    let acknowledged = desk.events().len();
    assert_eq!(acknowledged, work().len(), "the log is read all the same");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Any events, by two processes in turns, with queries and restarts between: the tables hold what one alone
    /// would have written with a question after each event.
    #[test]
    fn whoever_makes_the_tables_makes_the_same(
        told in prop::collection::vec((any_body(), 0..6), 1..40)
    ) {
        let mut desk = Desk::new();
        let (mut other, _) = open(desk.file()).unwrap();
        let mut alone = Desk::new();
        for (at, (body, step)) in told.into_iter().enumerate() {
            let at = i64::try_from(at).unwrap();
            let append = |record: &Record| {
                record.append(SESSION.into(), at, body.clone(), Durability::Batched).wait().unwrap()
            };
            append(&alone.record);
            alone.record.desk().unwrap();
            append(match step {
                0 | 1 => &other,
                _ => &desk.record,
            });
            match step {
                1 | 2 => drop(desk.record.desk().unwrap()),
                3 => drop(other.desk().unwrap()),
                5 => desk.record.publish_foreign_events(),
                4 => {
                    drop(other);
                    other = open(desk.file()).unwrap().0;
                }
                _ => {}
            }
        }
        drop(other);
        desk = desk.reopen();
        alone = alone.reopen();
        prop_assert_eq!(tables(&desk.file()), tables(&alone.file()));
        let session = SessionId::from(SESSION);
        let (entries, _): (Vec<Entry>, bool) = desk.record.transcript_before(&session, None, 500).unwrap();
        prop_assert_eq!(entries, folded(&desk.events(), &session));
    }
}
