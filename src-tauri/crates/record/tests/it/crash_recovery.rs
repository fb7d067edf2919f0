//! Death of the process at any moment: what was acknowledged is there afterwards, and found.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use protocol::event::{CallChange, fold};
use protocol::{CallState, Entry, EntryBody, Event, EventBody, SessionId};
use record::{Durability, Record};

use crate::sample_events;
use crate::support::{folded, open, owed, owed_apart};

const FILE: &str = "COUNTERSIGN_TEST_RECORD";

/// Not a test by itself: what the other process does until it is killed.
#[test]
fn child() {
    let Some(file) = std::env::var_os(FILE) else {
        return;
    };
    let record = Record::open(file.as_ref(), Box::new(|_| ())).unwrap();
    let mut out = std::io::stdout().lock();
    let first = record.last_seq().unwrap();
    let session = SessionId::from("ses_1");
    let append = |body, durability| record.append(session.clone(), 1, body, durability);
    drop(append(sample_events::opened("Killed"), Durability::Batched));
    for n in first.. {
        let id = format!("c{n}");
        let mut acks: Vec<_> = sample_events::read_call(&id, "src/a.rs", "some text")
            .map(|body| append(body, Durability::Batched))
            .into();
        acks.push(append(sample_events::noted("done"), Durability::OnDisk));
        for ack in acks {
            let seq = ack.wait().unwrap();
            writeln!(out, "acknowledged {seq}").unwrap();
            out.flush().unwrap();
        }
        // So that it also dies with rows that are made and owe their JSON and words.
        if n % 3 == 0 {
            record.desk().unwrap();
        }
    }
}

/// Starts the child on a file, reads `lines` acknowledgements, kills it in the midst of its work, and gives the last
/// acknowledged position.
fn killed_after(file: &std::path::Path, lines: usize) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "crash_recovery::child",
            "--exact",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(FILE, file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
    let seq = |line: String| Some(line.split_once("acknowledged ")?.1.parse::<u64>().unwrap());
    let mut last = 0;
    for line in out.by_ref().take(lines) {
        last = seq(line.unwrap()).unwrap_or(last);
    }
    child.kill().unwrap();
    // Lines that it wrote before it died count as well.
    for line in out {
        last = line.ok().and_then(seq).unwrap_or(last);
    }
    child.wait().unwrap();
    last
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db");
    // Different numbers of lines end it at different places of its work: at its start, in a call, at a commit.
    let mut left = (0, 0);
    for lines in [4, 5, 17, 60, 203, 401, 998] {
        let acknowledged = killed_after(&file, lines);
        assert!(acknowledged > 0);
        let (events, entries) = owed_apart(&file);
        left = (left.0 + events, left.1 + entries);
        let (record, _) = open(file.clone()).unwrap();
        let last = record.last_seq().unwrap();
        assert!(
            last >= acknowledged,
            "{acknowledged} was acknowledged, {last} is there"
        );
        let mut events = Vec::new();
        while let Some(next) = Some(record.events(events.len() as u64, None, 10_000).unwrap())
            .filter(|next| !next.is_empty())
        {
            events.extend(next);
        }
        assert!(events.iter().zip(1..).all(|(event, seq)| event.seq == seq));
        assert_eq!(events.len() as u64, last);
        let session = SessionId::from("ses_1");
        let (entries, _) = record.transcript_before(&session, None, 50).unwrap();
        let expected = folded(&events, &session);
        assert_eq!(entries, expected[expected.len() - entries.len()..]);
        let ended = expected.iter().filter(|entry| is_done(entry)).count();
        let page = record.search("some text", 0, 0, 1).unwrap();
        assert_eq!(page.total, ended as u64);
        let is_judged = |event: &&Event| {
            matches!(
                event.body,
                EventBody::Call {
                    change: CallChange::Judged { .. },
                    ..
                }
            )
        };
        let judged = events.iter().filter(is_judged).count();
        let page = record.list_verdicts(None, 10_000).unwrap();
        assert_eq!(page.calls.len(), judged);
        let views = events
            .iter()
            .fold(None, |view, event| fold::fold_session(view, event, 0));
        assert_eq!(record.session(&session).unwrap(), views);
        drop(record);
        assert_eq!(owed(&file), 0, "the next one makes up for it");
    }
    assert!(
        left.0 > 0,
        "it never died with events of which nothing was made"
    );
    assert!(left.1 > 0, "it never died with entries that owe something");
}

fn is_done(entry: &Entry) -> bool {
    matches!(&entry.body, EntryBody::Call(view) if view.state == CallState::Done)
}
