//! Tables that are written late: no query sees that they are, whatever comes between.

use protocol::{CallState, SessionId};
use record::{Durability, Record, RecordError};
use rusqlite::Connection;

use crate::sample_events;
use crate::support::{Desk, folded, open, owed, owed_apart};

const SESSION: &str = "ses_1";

/// Appends calls that nobody had to decide, in one go; gives how many.
fn burst(desk: &mut Desk, calls: std::ops::Range<u32>) {
    let call = |n| {
        sample_events::read_call(
            &format!("c{n}"),
            &format!("src/part_{n}.rs"),
            "fn main() {}",
        )
    };
    desk.tell_all(SESSION, calls.flat_map(call));
}

/// Asserts what holds at any moment: the entries are the fold of the events, and every call is found by its words.
fn assert_whole(record: &Record) {
    let session = SessionId::from(SESSION);
    let events = record.events(0, None, u32::MAX).unwrap();
    let expected = folded(&events, &session);
    let (entries, _) = record.transcript_before(&session, None, 500).unwrap();
    assert_eq!(
        entries,
        expected[expected.len().saturating_sub(500)..],
        "read"
    );
    let calls: Vec<_> = expected
        .iter()
        .filter(|entry| entry.id.starts_with('c'))
        .collect();
    let page = record.search("main", 0, 0, 200).unwrap();
    let found: Vec<_> = page.hits.iter().map(|hit| hit.seq).collect();
    let newest: Vec<_> = calls.iter().rev().take(200).map(|call| call.seq).collect();
    assert_eq!((page.total, found), (calls.len() as u64, newest), "found");
    for call in [calls.first(), calls.last()].into_iter().flatten() {
        let name = call.id.replace('c', "part_");
        let page = record.search(&format!("{name} main"), 0, 0, 9).unwrap();
        let [hit] = &page.hits[..] else {
            panic!("{name}: {page:#?}");
        };
        assert_eq!((&hit.id, hit.lines.len()), (&call.id, 2), "{hit:#?}");
        let own: Vec<_> = events.iter().filter(|e| e.seq >= call.seq).collect();
        let told = record
            .call_events(&session, &call.id.as_str().into(), 0)
            .unwrap();
        assert_eq!(told.first(), own.first().copied());
        assert!(told.len() >= 4, "{told:#?}");
    }
}

/// Waits until late work is done by itself, as it is when nothing is appended.
fn wait_for_rest(desk: &Desk) {
    while owed(&desk.file()) > 0 {
        std::thread::yield_now();
    }
}

/// How many texts the full-text index holds, and how many entries stand folded.
fn written(desk: &Desk) -> (i64, i64) {
    let conn = Connection::open(desk.file()).unwrap();
    let count = |table| {
        let sql = format!("SELECT count(*) FROM {table}");
        conn.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    (count("words_docsize"), count("folded"))
}

#[test]
fn a_burst_is_seen_whole_at_once_and_when_the_record_rests() {
    let mut desk = Desk::new();
    desk.tell(SESSION, sample_events::opened("Bursts"));
    for round in 0..4 {
        burst(&mut desk, round * 300..(round + 1) * 300);
        assert_whole(&desk.record);
    }
    wait_for_rest(&desk);
    assert_eq!(written(&desk), (1200, 1200));
    assert_whole(&desk.record);
}

#[test]
fn nothing_is_owed_by_a_record_that_closed() {
    let mut desk = Desk::new();
    desk.tell(SESSION, sample_events::opened("Closes"));
    burst(&mut desk, 0..700);
    desk = desk.reopen();
    assert_eq!(owed(&desk.file()), 0);
    assert_eq!(written(&desk), (700, 700));
    assert_whole(&desk.record);
}

/// More than may be owed is written with its events, as it comes.
#[test]
fn what_is_owed_has_a_limit() {
    let mut desk = Desk::new();
    desk.tell(SESSION, sample_events::opened("Goes on and on"));
    let (mut most_events, mut most_entries) = (0, 0);
    for round in 0..6 {
        burst(&mut desk, round * 1000..(round + 1) * 1000);
        let (events, entries) = owed_apart(&desk.file());
        most_events = most_events.max(events);
        most_entries = most_entries.max(entries);
    }
    assert!(most_events > 0, "nothing was made late");
    // A batch may come on top.
    assert!(most_events <= 8_192 + 1_024, "{most_events} are owed");
    assert!(most_entries <= 4_096, "{most_entries} are owed");
    let page = desk.record.search("main", 0, 0, 1).unwrap();
    assert_eq!(page.total, 6_000);
}

#[test]
fn a_full_disk_leaves_everything_acknowledged_readable_and_found() {
    let mut desk = Desk::new();
    desk.tell(SESSION, sample_events::opened("Fills the disk"));
    desk.record.limit_database_pages(60);
    let mut acknowledged: u64 = 1;
    let mut calls: u64 = 0;
    let error = 'full: loop {
        for event in sample_events::read_call(
            &format!("c{calls}"),
            &format!("part_{calls}"),
            "fn main() {}",
        ) {
            match desk.try_tell(SESSION, event) {
                Ok(seq) => acknowledged = seq,
                Err(error) => break 'full error,
            }
        }
        calls += 1;
    };
    assert!(matches!(error, RecordError::Full(_)), "{error:?}");
    assert!(owed(&desk.file()) > 0, "nothing came late");
    assert_eq!(desk.record.last_seq().unwrap(), acknowledged);
    let page = desk.record.search("main", 0, 0, 200).unwrap();
    assert_eq!(page.total, calls);
    let session = SessionId::from(SESSION);
    let (entries, _) = desk.record.transcript_before(&session, None, 500).unwrap();
    assert_eq!(entries, folded(&desk.events(), &session));

    // Once there is room, the next event brings the rest with it.
    desk.record.limit_database_pages(100_000);
    desk.tell(SESSION, sample_events::noted("There is room again."));
    wait_for_rest(&desk);
    let again = desk.record.search("main", 0, 0, 200).unwrap();
    assert_eq!(again.total, page.total);
}

#[test]
fn another_process_reads_finds_and_changes_what_is_owed() {
    let mut desk = Desk::new();
    desk.tell(SESSION, sample_events::opened("Shared"));
    let (other, _) = open(desk.file()).unwrap();
    for round in 0..6 {
        let calls = round * 40..(round + 1) * 40;
        burst(&mut desk, calls.clone());
        assert_whole(&other);
        // The other one changes an entry that the first still keeps as it was.
        let undone = sample_events::undone(&format!("c{}", calls.start + 7), "und_1");
        let ack = other.append(SESSION.into(), 1, undone, Durability::Batched);
        ack.wait().unwrap();
        assert_whole(&desk.record);
        assert_whole(&other);
        let found = |record: &Record| record.search("main state:undone", 0, 0, 1).unwrap().total;
        let expected = u64::from(round) + 1;
        assert_eq!((found(&desk.record), found(&other)), (expected, expected));
    }
    desk.record.flush_deferred();
    drop(other);
    assert_eq!(written(&desk), (240, 240), "each once");
    assert_whole(&desk.record);
    desk = desk.reopen();
    assert_whole(&desk.record);
}

#[test]
fn what_is_owed_may_change_and_be_owed_again() {
    let mut desk = Desk::new();
    desk.tell(SESSION, sample_events::opened("Changes its mind"));
    burst(&mut desk, 0..5);
    // Such as no engine would tell: a call that ended runs again, and ends otherwise.
    desk.tell(SESSION, sample_events::started("c2"));
    assert_eq!(desk.record.search("main", 0, 0, 9).unwrap().total, 4);
    let again = sample_events::ended("c2", CallState::Failed, "fn main() {}, and it failed");
    desk.tell(SESSION, again);
    assert_whole(&desk.record);
    // An id that is used again takes the place of what is owed.
    burst(&mut desk, 3..4);
    assert_whole(&desk.record);
    desk.record.flush_deferred();
    assert_whole(&desk.record);
    assert_eq!(written(&desk), (5, 5));
}

/// The format before this one had no index of what is owed, and owed nothing.
#[test]
fn a_record_of_the_first_format_is_brought_up_to_this_one() {
    let mut desk = Desk::new();
    desk.tell(SESSION, sample_events::opened("Old"));
    burst(&mut desk, 0..50);
    let Desk {
        record,
        published,
        folder,
        ..
    } = desk;
    drop((record, published));
    let file = folder.path().join("record.db");
    let conn = Connection::open(&file).unwrap();
    conn.execute_batch(
        "DROP VIEW chat_parts; DROP TABLE projected; DROP INDEX entries_late; DROP INDEX entries_failed; DROP TABLE verdicts; DROP TABLE rule_hits; DROP TABLE deletions; PRAGMA user_version = 1",
    )
    .unwrap();
    drop(conn);
    let (record, _) = open(file.clone()).unwrap();
    assert_whole(&record);
    for event in sample_events::read_call("c50", "src/part_50.rs", "fn main() {}") {
        record
            .append(SESSION.into(), 1, event, Durability::Batched)
            .wait()
            .unwrap();
    }
    assert_whole(&record);
    drop(record);
    assert_eq!(owed(&file), 0);
    let (record, _) = open(file).unwrap();
    assert_whole(&record);
}
