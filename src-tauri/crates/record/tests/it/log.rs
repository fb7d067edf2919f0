//! Appending: order, promises, publishing, and that what is read is what the pure fold makes of the events.

use proptest::prelude::*;
use protocol::event::{MessageChange, fold};
use protocol::{CallState, Content, EventBody, SessionId};
use record::{Durability, Record};

use crate::sample_events;
use crate::support::{Desk, folded, open};

#[test]
fn events_are_numbered_published_and_kept_in_order() {
    let mut desk = Desk::new();
    assert_eq!(desk.record.last_seq().unwrap(), 0);
    desk.tell("ses_1", sample_events::opened("First"));
    desk.tell_all("ses_1", sample_events::read_call("c1", "a.rs", "fn a() {}"));
    desk.tell("ses_2", sample_events::opened("Second"));
    let events = desk.events();
    let seqs: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5, 6]);
    assert_eq!(desk.published(), events, "published what is kept");

    let second = SessionId::from("ses_2");
    assert_eq!(
        desk.record.events(0, Some(&second), 9).unwrap(),
        events[5..]
    );
    assert_eq!(desk.record.events(2, None, 2).unwrap(), events[2..4]);
    let first = SessionId::from("ses_1");
    let call = desk.record.call_events(&first, &"c1".into(), 0).unwrap();
    assert_eq!(call, events[1..5]);
    assert_eq!(
        desk.record.call_events(&second, &"c1".into(), 0).unwrap(),
        []
    );

    let desk = desk.reopen();
    assert_eq!(desk.events(), events);
    assert_eq!(desk.published(), [], "nothing is published twice");
}

#[test]
fn a_message_is_given_with_its_images_by_its_id() {
    let mut desk = Desk::new();
    desk.tell("ses_1", sample_events::opened("First"));
    desk.tell_all("ses_1", sample_events::read_call("c1", "a.rs", "fn a() {}"));
    let mut said = sample_events::said("msg_1", "What is on it?");
    if let EventBody::Message {
        change: MessageChange::PersonSaid { images, .. },
        ..
    } = &mut said
    {
        *images = vec![Content::image(b"\x89PNG\r\n\x1a\n").unwrap()];
    }
    desk.tell("ses_1", said.clone());
    desk.tell("ses_1", sample_events::noted("later"));
    let session = SessionId::from("ses_1");
    let events = desk
        .record
        .call_events(&session, &"msg_1".into(), 0)
        .unwrap();
    let bodies: Vec<EventBody> = events.into_iter().map(|event| event.body).collect();
    assert_eq!(bodies, [said]);
}

#[test]
fn a_kept_promise_means_committed_and_published() {
    let mut desk = Desk::new();
    for n in 0..20 {
        let seq = desk.tell("ses_1", sample_events::noted(&format!("note {n}")));
        assert_eq!(desk.published().last().map(|event| event.seq), Some(seq));
        assert_eq!(desk.record.last_seq().unwrap(), seq);
        let (other, _) = open(desk.file()).unwrap();
        assert_eq!(
            other.last_seq().unwrap(),
            seq,
            "seen through another connection"
        );
    }
}

#[test]
fn threads_append_without_gaps_each_in_its_own_order() {
    let desk = Desk::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let record = desk.record.clone();
            scope.spawn(move || {
                let session = SessionId(format!("ses_{thread}"));
                let durability = [Durability::Batched, Durability::OnDisk][thread % 2];
                let acks: Vec<_> = (0..250)
                    .map(|n| {
                        let body = sample_events::noted(&format!("{n}"));
                        record.append(session.clone(), n, body, durability)
                    })
                    .collect();
                let seqs: Vec<u64> = acks.into_iter().map(|ack| ack.wait().unwrap()).collect();
                assert!(seqs.is_sorted());
            });
        }
    });
    let events = desk.events();
    assert!(
        events
            .iter()
            .zip(1..=1000)
            .all(|(event, seq)| event.seq == seq)
    );
    assert_eq!(events.len(), 1000);
    assert_eq!(desk.published(), events);
    for thread in 0..4 {
        let session = SessionId(format!("ses_{thread}"));
        let own: Vec<_> = events
            .iter()
            .filter(|event| event.session == session)
            .cloned()
            .collect();
        let times: Vec<i64> = own.iter().map(|event| event.at).collect();
        assert_eq!(times, (0..250).collect::<Vec<_>>());
        // Found among those of the others, from any position on.
        for since in [0, own[99].seq, own[249].seq] {
            let after: Vec<_> = own.iter().filter(|e| e.seq > since).cloned().collect();
            let read = desk.record.events(since, Some(&session), 1000).unwrap();
            assert_eq!(read, after, "after {since}");
        }
    }
}

#[tokio::test]
async fn promises_can_be_awaited_and_dropped() {
    let desk = Desk::new();
    let append = |body| {
        desk.record
            .append("ses_1".into(), 1, body, Durability::OnDisk)
    };
    drop(append(sample_events::noted("nobody waits for this")));
    assert_eq!(append(sample_events::noted("second")).await.unwrap(), 2);
}

#[test]
fn what_was_appended_is_written_before_the_record_closes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.db");
    let record = Record::open(&file, Box::new(|_| ())).unwrap();
    for n in 0..2000 {
        let body = sample_events::noted(&format!("{n}"));
        drop(record.append("ses_1".into(), n, body, Durability::Batched));
    }
    drop(record);
    let (record, _) = open(file).unwrap();
    assert_eq!(record.last_seq().unwrap(), 2000);
}

#[test]
fn a_second_process_can_write_and_the_first_publishes_what_it_missed() {
    let mut desk = Desk::new();
    desk.tell("ses_1", sample_events::opened("Shared"));
    desk.tell(
        "ses_1",
        sample_events::proposed("c1", "bash", serde_json::json!({})),
    );
    let (other, heard) = open(desk.file()).unwrap();
    let append = |body| other.append("ses_1".into(), 7, body, Durability::Batched);
    assert_eq!(append(sample_events::waits("c1")).wait().unwrap(), 3);
    assert_eq!(desk.tell("ses_1", sample_events::started("c1")), 4);
    assert_eq!(desk.published(), desk.events(), "without a gap");
    assert_eq!(
        append(sample_events::ended("c1", CallState::Done, "ok"))
            .wait()
            .unwrap(),
        5
    );
    let first: Vec<u64> = heard
        .lock()
        .unwrap()
        .iter()
        .map(|event| event.seq)
        .collect();
    assert_eq!(first, [3, 4, 5]);
    // Also without an event of its own, and once.
    desk.record.publish_foreign_events();
    desk.record.publish_foreign_events();
    desk.record.flush_deferred();
    assert_eq!(desk.published(), desk.events());
    assert_eq!(append(sample_events::noted("late")).wait().unwrap(), 6);
    desk.record.publish_foreign_events();
    assert_eq!(desk.tell("ses_1", sample_events::noted("later")), 7);
    assert_eq!(desk.published(), desk.events());
    let session = SessionId::from("ses_1");
    let (entries, _) = desk.record.transcript_before(&session, None, 9).unwrap();
    assert_eq!(entries, folded(&desk.events(), &session));
}

#[test]
fn a_message_that_streams_is_whole_at_every_moment() {
    let mut desk = Desk::new();
    let session = SessionId::from("ses_1");
    desk.tell("ses_1", sample_events::opened("Streams"));
    desk.tell("ses_1", sample_events::turn(1, "msg_1"));
    desk.tell(
        "ses_1",
        sample_events::proposed("c1", "bash", serde_json::json!({})),
    );
    let piece = "x".repeat(600);
    for n in 0..150 {
        desk.tell(
            "ses_1",
            sample_events::agent_said("msg_1", &format!("{n} {piece}"), n % 5 == 0),
        );
        desk.tell(
            "ses_1",
            sample_events::output("c1", &format!("{n} {piece}")),
        );
        let (entries, _) = desk.record.transcript_before(&session, None, 9).unwrap();
        assert_eq!(entries, folded(&desk.events(), &session));
    }
    desk = desk.reopen();
    desk.tell(
        "ses_1",
        sample_events::agent_said("msg_1", "after a restart", false),
    );
    desk.tell("ses_1", sample_events::turn_ended(1, "msg_1"));
    let (entries, _) = desk.record.transcript_before(&session, None, 9).unwrap();
    assert_eq!(entries, folded(&desk.events(), &session));
}

/// An event about one of a few entries, in any order: also such as no engine would tell.
pub fn any_body() -> impl Strategy<Value = EventBody> {
    let call = prop::sample::select(vec!["c1", "c2", "c3"]);
    let message = prop::sample::select(vec!["msg_1", "msg_2"]);
    let ends = prop::sample::select(vec![
        CallState::Done,
        CallState::Failed,
        CallState::Interrupted,
        CallState::Denied,
    ]);
    (0..16, call, message, ends, "[a-z ]{0,8}").prop_map(|(what, call, message, end, text)| {
        let undo = format!("und_{call}");
        match what {
            0 => sample_events::opened(&text),
            1 => sample_events::said(message, &text),
            2 => sample_events::turn(1, message),
            3 => sample_events::agent_said(message, &text, false),
            4 => sample_events::turn_ended(1, message),
            5 => sample_events::proposed(call, "bash", serde_json::json!({ "command": text })),
            6 => sample_events::judged(call, "bash", &text),
            7 | 8 => sample_events::waits(call),
            9 => sample_events::decided(call, &text),
            10 => sample_events::undo_prepared(call, &undo),
            11 => sample_events::started(call),
            12 => sample_events::output(call, &text),
            13 => sample_events::ended(call, end, &text),
            14 => sample_events::undone(call, &undo),
            _ => sample_events::redone(call, &undo),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Any events, in batches of any size and over restarts: the tables hold what the pure fold gives.
    #[test]
    fn what_is_read_is_the_fold_of_what_was_told(
        told in prop::collection::vec((any_body(), prop::bool::ANY, 0..20), 1..60)
    ) {
        let mut desk = Desk::new();
        let mut batch = Vec::new();
        for (body, settle, restart) in told {
            batch.push(body);
            if settle {
                desk.tell_all("ses_1", batch.drain(..));
            }
            if restart == 0 {
                desk = desk.reopen();
            }
        }
        desk.tell_all("ses_1", batch);
        let events = desk.events();
        let session = SessionId::from("ses_1");
        let expected = folded(&events, &session);
        let (entries, more) = desk.record.transcript_before(&session, None, 500).unwrap();
        prop_assert_eq!(&entries, &expected);
        prop_assert!(!more);

        let state = |entry: &protocol::Entry| match &entry.body {
            protocol::EntryBody::Call(view) => Some(view.state),
            _ => None,
        };
        let waiting = expected.iter().filter(|e| state(e) == Some(CallState::Waiting));
        let waiting: Vec<_> = waiting.cloned().collect();
        let mut on_desk = desk.record.desk().unwrap();
        on_desk.sort_by_key(|entry| entry.seq);
        prop_assert_eq!(&on_desk, &waiting);

        let count = u32::try_from(waiting.len()).unwrap();
        let view = events.iter().fold(None, |view, event| fold::fold_session(view, event, count));
        prop_assert_eq!(desk.record.session(&session).unwrap(), view.clone());
        prop_assert_eq!(desk.record.sessions().unwrap(), view.into_iter().collect::<Vec<_>>());
    }
}
