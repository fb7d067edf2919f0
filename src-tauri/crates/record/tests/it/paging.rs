//! Reading a long transcript page by page, the desk, and the session list.

use protocol::{CallState, Entry, EntryBody, SessionId, SessionState};

use crate::sample_events;
use crate::support::{Desk, folded};

fn ids(page: &[Entry]) -> Vec<&str> {
    page.iter().map(|entry| entry.id.as_str()).collect()
}

#[test]
fn pages_in_both_directions() {
    let mut desk = Desk::new();
    for n in 1..=7 {
        desk.tell("ses_1", sample_events::said(&format!("m{n}"), "text"));
        desk.tell("ses_2", sample_events::said(&format!("other{n}"), "text"));
    }
    let session = SessionId::from("ses_1");
    let (end, more) = desk.record.transcript_before(&session, None, 3).unwrap();
    assert_eq!((ids(&end), more), (vec!["m5", "m6", "m7"], true));
    let (middle, more) = desk
        .record
        .transcript_before(&session, Some(end[0].seq), 3)
        .unwrap();
    assert_eq!((ids(&middle), more), (vec!["m2", "m3", "m4"], true));
    let (start, more) = desk
        .record
        .transcript_before(&session, Some(middle[0].seq), 3)
        .unwrap();
    assert_eq!((ids(&start), more), (vec!["m1"], false));
    let (from, more) = desk
        .record
        .transcript_from(&session, middle[1].seq, 3)
        .unwrap();
    assert_eq!((ids(&from), more), (vec!["m3", "m4", "m5"], true));
    let (from, more) = desk
        .record
        .transcript_from(&session, end[1].seq, 3)
        .unwrap();
    assert_eq!((ids(&from), more), (vec!["m6", "m7"], false));
    let nobody = SessionId::from("ses_9");
    assert_eq!(
        desk.record.transcript_before(&nobody, None, 3).unwrap(),
        (vec![], false)
    );
    assert_eq!(desk.record.session(&nobody).unwrap(), None);
    let one = desk.record.entry(&session, "m4").unwrap().unwrap();
    assert_eq!(one, middle[2]);
    assert_eq!(desk.record.entry(&session, "other4").unwrap(), None);
}

#[test]
fn failed_calls_from_the_newest_back() {
    let mut desk = Desk::new();
    for (session, call) in [
        ("ses_1", "c1"),
        ("ses_1", "c2"),
        ("ses_2", "c3"),
        ("ses_1", "c4"),
        ("ses_1", "c5"),
    ] {
        desk.tell(
            session,
            sample_events::proposed(call, "bash", serde_json::json!({ "command": "ls" })),
        );
        desk.tell(session, sample_events::judged(call, "bash", "ls"));
        let state = match call {
            "c2" => CallState::Done,
            _ => CallState::Failed,
        };
        desk.tell(session, sample_events::ended(call, state, "text"));
    }
    let session = SessionId::from("ses_1");
    let mut found = Vec::new();
    let mut before = None;
    while let Some(entry) = desk.record.newest_failed_call(&session, before).unwrap() {
        before = Some(entry.seq);
        found.push(entry.id);
    }
    assert_eq!(found, ["c5", "c4", "c1"]);
    let nobody = SessionId::from("ses_9");
    assert_eq!(desk.record.newest_failed_call(&nobody, None).unwrap(), None);
}

#[test]
fn a_page_of_huge_entries_is_cut_short() {
    let mut desk = Desk::new();
    let huge = "x".repeat(3_000_000);
    for n in 1..=6 {
        desk.tell("ses_1", sample_events::said(&format!("m{n}"), &huge));
    }
    let session = SessionId::from("ses_1");
    let (end, more) = desk.record.transcript_before(&session, None, 6).unwrap();
    assert_eq!((ids(&end), more), (vec!["m4", "m5", "m6"], true));
    let (start, more) = desk
        .record
        .transcript_before(&session, Some(end[0].seq), 6)
        .unwrap();
    assert_eq!((ids(&start), more), (vec!["m1", "m2", "m3"], false));
}

#[test]
fn the_desk_has_every_waiting_call_the_longest_wait_first() {
    let mut desk = Desk::new();
    desk.tell("ses_1", sample_events::opened("One"));
    desk.tell("ses_2", sample_events::opened("Two"));
    for (session, call) in [("ses_1", "c1"), ("ses_2", "c2"), ("ses_1", "c3")] {
        desk.tell(
            session,
            sample_events::proposed(call, "bash", serde_json::json!({ "command": "ls" })),
        );
        desk.tell(session, sample_events::judged(call, "bash", "ls"));
    }
    for (session, call) in [("ses_2", "c2"), ("ses_1", "c3"), ("ses_1", "c1")] {
        desk.tell(session, sample_events::waits(call));
    }
    // A refreshed card keeps its place.
    desk.tell("ses_2", sample_events::waits("c2"));
    assert_eq!(ids(&desk.record.desk().unwrap()), ["c2", "c3", "c1"]);
    let waiting = |desk: &Desk, id: &str| desk.record.session(&id.into()).unwrap().unwrap().waiting;
    assert_eq!((waiting(&desk, "ses_1"), waiting(&desk, "ses_2")), (2, 1));

    desk = desk.reopen();
    desk.tell("ses_1", sample_events::decided("c3", "go"));
    desk.tell("ses_1", sample_events::started("c3"));
    desk.tell("ses_1", sample_events::ended("c3", CallState::Done, "a.rs"));
    desk.tell(
        "ses_2",
        sample_events::ended("c2", CallState::Rejected, "no"),
    );
    let moment = desk.record.overview().unwrap();
    assert_eq!(moment.seq, desk.record.last_seq().unwrap());
    assert_eq!(ids(&moment.desk), ["c1"]);
    assert_eq!((waiting(&desk, "ses_1"), waiting(&desk, "ses_2")), (1, 0));
    let session = SessionId::from("ses_1");
    let (entries, _) = desk.record.transcript_before(&session, None, 9).unwrap();
    assert_eq!(entries, folded(&desk.events(), &session));
}

#[test]
fn what_is_at_work_is_told_by_its_state_alone() {
    let mut desk = Desk::new();
    for (session, state) in [
        ("ses_1", SessionState::Running),
        ("ses_2", SessionState::Waiting),
        ("ses_3", SessionState::Done),
    ] {
        desk.tell(session, sample_events::opened("running"));
        desk.tell(session, sample_events::state(state));
    }
    let at_work = desk.record.active_sessions().unwrap();
    let states: Vec<_> = at_work.iter().map(|view| view.state).collect();
    assert_eq!(states, [SessionState::Waiting, SessionState::Running]);
}

#[test]
fn sessions_come_with_the_last_change_first() {
    let mut desk = Desk::new();
    desk.tell("ses_1", sample_events::opened("One"));
    desk.tell("ses_2", sample_events::opened("Two"));
    desk.tell("ses_1", sample_events::state(SessionState::Running));
    desk.tell("ses_1", sample_events::turn(1, "m1"));
    desk.tell("ses_1", sample_events::turn_ended(1, "m1"));
    // One that is recorded last and happened first, as one that is imported does.
    let opened = sample_events::opened("Three");
    let imported = desk
        .record
        .append("ses_3".into(), 500, opened, record::Durability::Batched);
    imported.wait().unwrap();
    let sessions = desk.record.sessions().unwrap();
    let lines: Vec<_> = sessions
        .iter()
        .map(|view| {
            (
                view.title.as_str(),
                view.state,
                view.turns,
                view.usage.output_tokens,
                view.changed_at,
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            ("One", SessionState::Running, 1, 10, 5000),
            ("Two", SessionState::Idle, 0, 0, 2000),
            ("Three", SessionState::Idle, 0, 0, 500)
        ]
    );
}

#[test]
fn an_id_that_is_used_again_begins_another_entry() {
    let mut desk = Desk::new();
    desk.tell("ses_1", sample_events::opened("Repeats itself"));
    for text in ["first", "second"] {
        desk.tell_all("ses_1", sample_events::read_call("call_1", "a.rs", text));
    }
    let session = SessionId::from("ses_1");
    let (entries, _) = desk.record.transcript_before(&session, None, 9).unwrap();
    assert_eq!(entries, folded(&desk.events(), &session));
    let EntryBody::Call(view) = &entries[0].body else {
        panic!("a call");
    };
    assert_eq!(view.outcome.as_ref().unwrap().text, "second");
    let found = |text| desk.record.search(text, 0, 0, 9).unwrap().total;
    assert_eq!((entries.len(), found("first"), found("second")), (1, 0, 1));
}

#[test]
fn a_hundred_thousand_entries_open_at_the_end() {
    let mut desk = Desk::new();
    let say = |n: u32| sample_events::said(&format!("m{n}"), &format!("line {n}"));
    for start in (0..100_000).step_by(10_000) {
        desk.tell_all("ses_1", (start..start + 10_000).map(say));
    }
    let session = SessionId::from("ses_1");
    let (end, more) = desk.record.transcript_before(&session, None, 200).unwrap();
    assert_eq!(end.len(), 200);
    assert_eq!(
        (end[0].id.as_str(), end[199].id.as_str(), more),
        ("m99800", "m99999", true)
    );
    let (before, more) = desk
        .record
        .transcript_before(&session, Some(end[0].seq), 200)
        .unwrap();
    assert_eq!((before[199].id.as_str(), more), ("m99799", true));
    let (middle, _) = desk.record.transcript_from(&session, 50_001, 1).unwrap();
    assert_eq!(ids(&middle), ["m50000"]);
    let page = desk.record.search("line 77*", 0, 0, 3).unwrap();
    assert_eq!((page.total, page.searched), (1_111, 100_000));
    assert_eq!(page.hits[0].id, "m77999");
}
