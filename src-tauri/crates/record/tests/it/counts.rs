//! Counts of what a database holds, also of one that is no record of this version.

use std::fs;

use protocol::{CallState, SessionState};
use record::{Record, RecordError, StateCount};
use serde_json::json;

use crate::sample_events;
use crate::support::Desk;

#[test]
fn sessions_calls_and_events_are_counted_while_others_record() {
    let mut desk = Desk::new();
    desk.tell("ses_1", sample_events::opened("One"));
    desk.tell("ses_2", sample_events::opened("Two"));
    desk.tell("ses_2", sample_events::state(SessionState::Done));
    desk.tell(
        "ses_1",
        sample_events::proposed("call_1", "read", json!({})),
    );
    desk.tell(
        "ses_1",
        sample_events::ended("call_1", CallState::Done, "text"),
    );
    desk.tell("ses_1", sample_events::said("m1", "Hello."));
    // Until they are asked for, entries are derived late.
    desk.record.sessions().unwrap();

    let counts = Record::count(&desk.file()).unwrap();
    assert_eq!(counts.events["session_opened"], 2);
    assert_eq!(counts.events["call_proposed"], 1);
    assert_eq!(counts.events.values().sum::<u64>(), 6);
    assert_eq!(counts.unknown_events, 0);
    let one_each = |state| StateCount { state, count: 1 };
    let mut sessions = counts.sessions;
    sessions.sort_by_key(|one| one.state != SessionState::Idle);
    assert_eq!(
        sessions,
        [one_each(SessionState::Idle), one_each(SessionState::Done)]
    );
    assert_eq!(
        counts.calls,
        [StateCount {
            state: CallState::Done,
            count: 1
        }]
    );
}

#[test]
fn what_is_damaged_is_said_and_left_as_it_is() {
    let mut desk = Desk::new();
    desk.tell("ses_1", sample_events::opened("One"));
    let Desk { folder, record, .. } = desk;
    drop(record);
    let file = folder.path().join("record.db");
    let mut bytes = fs::read(&file).unwrap();
    bytes[..16].fill(b'?');
    fs::write(&file, &bytes).unwrap();
    assert!(matches!(
        Record::count(&file),
        Err(RecordError::NotARecord { .. })
    ));
    assert_eq!(fs::read(&file).unwrap(), bytes);
    assert!(Record::count(&folder.path().join("missing.db")).is_err());
    assert!(!folder.path().join("missing.db").exists());
}
