//! A record in memory tells and keeps its events, and makes nothing of them.

use std::sync::{Arc, Mutex};

use protocol::event::SessionEvent;
use protocol::{Event, EventBody, SessionId, SessionState};
use record::{Durability, Record, RecordOverview};

#[test]
fn events_are_numbered_told_and_kept_and_nothing_is_made_of_them() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&heard);
    let record = Record::in_memory(Box::new(move |events| {
        told.lock().unwrap().extend_from_slice(&events);
    }))
    .unwrap();
    let changes = [
        ("ses_1", SessionState::Running, Durability::Batched),
        ("ses_2", SessionState::Running, Durability::OnDisk),
        ("ses_1", SessionState::Done, Durability::Batched),
    ];
    let mut expected: Vec<Event> = Vec::new();
    for (seq, (session, state, durability)) in (1..).zip(changes) {
        let (session, body) = (
            SessionId::from(session),
            EventBody::Session(SessionEvent::Changed { state }),
        );
        let ack = record.append(session.clone(), 7, body.clone(), durability);
        assert_eq!(ack.wait().unwrap(), seq);
        expected.push(Event {
            seq,
            session,
            at: 7,
            body,
        });
    }
    assert_eq!(*heard.lock().unwrap(), expected);
    assert_eq!(record.last_seq().unwrap(), 3);
    assert_eq!(record.events(1, None, 10).unwrap(), expected[1..]);
    assert_eq!(record.events(0, None, 2).unwrap(), expected[..2]);
    assert_eq!(record.events(9, None, 2).unwrap(), []);
    let of_one = [expected[0].clone(), expected[2].clone()];
    assert_eq!(
        record
            .events(0, Some(&SessionId::from("ses_1")), 10)
            .unwrap(),
        of_one
    );
    let nothing = RecordOverview {
        seq: 0,
        sessions: Vec::new(),
        desk: Vec::new(),
    };
    assert_eq!(record.overview().unwrap(), nothing);
    assert_eq!(record.search("anything", 0, 0, 10).unwrap().hits, []);
}

#[test]
fn whoever_waits_hurries_and_whoever_looks_does_not() {
    let record = Record::in_memory(Box::new(|_| ())).unwrap();
    let append = || {
        let body = EventBody::Session(SessionEvent::Changed {
            state: SessionState::Running,
        });
        record.append(SessionId::from("ses_1"), 7, body, Durability::Batched)
    };
    let (first, second) = (append(), append());
    assert_eq!(second.wait().unwrap(), 2);
    assert_eq!(first.try_result().unwrap().unwrap(), 1);
}
