//! Search: what is found, in which order, with which lines, and what is said of a text that makes no sense.

use proptest::prelude::*;
use protocol::view::search::{Facet, HitLine, HitPart, SearchHit, SearchPage};
use protocol::{CallState, SessionId, ToolKind};
use serde_json::json;

use crate::sample_events;
use crate::support::Desk;

/// Two sessions: a flaky test that is looked into, and a release note.
fn library() -> Desk {
    let mut desk = Desk::new();
    desk.tell("ses_wal", sample_events::opened("Flaky WAL recovery"));
    desk.tell(
        "ses_wal",
        sample_events::said("m1", "Why does the recovery test fail at times?"),
    );
    desk.tell("ses_wal", sample_events::turn(1, "m2"));
    desk.tell(
        "ses_wal",
        sample_events::agent_said("m2", "The lock is dropped too early.", true),
    );
    desk.tell(
        "ses_wal",
        sample_events::agent_said("m2", "I will run the tests.", false),
    );
    desk.tell("ses_wal", sample_events::turn_ended(1, "m2"));
    desk.tell_all(
        "ses_wal",
        sample_events::read_call(
            "c1",
            "crates/wal/src/recover.rs",
            "fn recover() {}\nlet borrow = 1;",
        ),
    );
    desk.tell(
        "ses_wal",
        sample_events::proposed("c2", "bash", json!({ "command": "cargo test -p wal" })),
    );
    desk.tell(
        "ses_wal",
        sample_events::judged("c2", "bash", "cargo test -p wal"),
    );
    desk.tell("ses_wal", sample_events::waits("c2"));
    desk.tell("ses_wal", sample_events::decided("c2", "only this crate"));
    desk.tell("ses_wal", sample_events::started("c2"));
    let text = "error[E0502]: cannot borrow `self.segments` as mutable\n  it is borrowed as immutable\n --> recover.rs:88";
    desk.tell(
        "ses_wal",
        sample_events::ended("c2", CallState::Failed, text),
    );
    desk.tell("ses_notes", sample_events::opened("Release notes"));
    desk.tell(
        "ses_notes",
        sample_events::said("m1", "Write down what changed; borrow the old layout."),
    );
    desk.tell(
        "ses_notes",
        sample_events::proposed(
            "c1",
            "edit",
            json!({ "path": "NOTES.md", "new_string": "A café opened." }),
        ),
    );
    desk.tell("ses_notes", sample_events::judged("c1", "edit", "NOTES.md"));
    desk.tell("ses_notes", sample_events::waits("c1"));
    desk.tell("ses_notes", sample_events::noted("The provider was slow."));
    desk
}

fn search(desk: &Desk, text: &str) -> SearchPage {
    desk.record.search(text, 100_000, 0, 50).unwrap()
}

/// The hits as `session/id`.
fn found(desk: &Desk, text: &str) -> Vec<String> {
    let page = search(desk, text);
    assert_eq!(page.problem, None, "{text}");
    assert_eq!(page.total, page.hits.len() as u64);
    let name = |hit: &SearchHit| {
        format!(
            "{}/{}",
            hit.session.as_str().trim_start_matches("ses_"),
            hit.id
        )
    };
    page.hits.iter().map(name).collect()
}

#[test]
fn what_is_found_newest_first() {
    let desk = library();
    let note = desk.record.last_seq().unwrap();
    let note = format!("notes/note_{note}");
    let all = [
        note.as_str(),
        "notes/c1",
        "notes/m1",
        "wal/c2",
        "wal/c1",
        "wal/m2",
        "wal/m1",
    ];
    let table: &[(&str, &[&str])] = &[
        ("borrow", &["notes/m1", "wal/c2", "wal/c1"]),
        ("BORROW", &["notes/m1", "wal/c2", "wal/c1"]),
        ("borrow*", &["notes/m1", "wal/c2", "wal/c1"]),
        ("borrowed", &["wal/c2"]),
        ("\"borrowed as\"", &["wal/c2"]),
        ("\"as borrowed\"", &[]),
        ("\"borrowed as imm\"*", &["wal/c2"]),
        ("borrow tests", &[]),
        ("borrow layout", &["notes/m1"]),
        ("early", &["wal/m2"]),
        ("cafe", &["notes/c1"]),
        ("self.segments", &["wal/c2"]),
        ("only crate", &["wal/c2"]),
        ("slow", &[&note]),
        ("NOTES.md", &["notes/c1"]),
        ("", &all),
        ("state:failed", &["wal/c2"]),
        ("state:waiting", &["notes/c1"]),
        ("state:failed state:waiting", &["notes/c1", "wal/c2"]),
        ("mode:read", &["wal/c1"]),
        ("mode:safe-write", &["notes/c1"]),
        ("tool:bash", &["wal/c2"]),
        ("tool:ba*", &["wal/c2"]),
        ("tool:ba", &[]),
        ("session:flaky borrow", &["wal/c2", "wal/c1"]),
        ("session:\"recovery wal\" borrow", &["wal/c2", "wal/c1"]),
        ("session:ses_notes mode:safe_write", &["notes/c1"]),
        ("session:nothing borrow", &[]),
        ("path:recover", &["wal/c1"]),
        ("path:SRC/", &["wal/c1"]),
        ("path:notes.md", &["notes/c1"]),
        ("after:80s", &[]),
        ("before:1970-01-01", &[]),
        ("after:1970-01-01 state:failed", &["wal/c2"]),
    ];
    for (text, expected) in table {
        if *text == "after:80s" {
            assert!(
                search(&desk, text).problem.is_some(),
                "seconds are not a unit"
            );
        } else {
            assert_eq!(found(&desk, text), *expected, "{text}");
        }
    }
    // Times: everything happened within the minute before; one minute later, one minute is too short.
    let at = |now, text: &str| desk.record.search(text, now, 0, 50).unwrap().total;
    assert_eq!((at(60_000, "after:1m"), at(86_400_000, "after:1m")), (7, 0));
    assert_eq!(
        (at(60_000, "before:1m"), at(86_400_000, "before:1m")),
        (0, 7)
    );
}

#[test]
fn a_hit_shows_its_lines() {
    let desk = library();
    let page = search(&desk, "immutable");
    let line = |number, parts: &[(&str, bool)]| HitLine {
        number,
        parts: parts
            .iter()
            .map(|(text, matched)| HitPart {
                text: (*text).into(),
                matched: *matched,
            })
            .collect(),
    };
    let expected = SearchHit {
        session: "ses_wal".into(),
        session_title: "Flaky WAL recovery".into(),
        id: "c2".into(),
        seq: 11,
        at: 11_000,
        body: "call".into(),
        kind: Some(ToolKind::Execute),
        title: "Run".into(),
        target: "cargo test -p wal".into(),
        state: Some(CallState::Failed),
        lines: vec![
            line(
                3,
                &[(
                    "error[E0502]: cannot borrow `self.segments` as mutable",
                    false,
                )],
            ),
            line(4, &[("  it is borrowed as ", false), ("immutable", true)]),
            line(5, &[(" --> recover.rs:88", false)]),
        ],
    };
    assert_eq!(page.hits, [expected]);
    assert_eq!((page.total, page.searched), (1, 7));
}

#[test]
fn facets_count_what_another_choice_would_give() {
    let desk = library();
    let facet = |filter: &str, value: &str, label: &str, count| Facet {
        filter: filter.into(),
        value: value.into(),
        label: label.into(),
        count,
    };
    assert_eq!(
        search(&desk, "tool:* state:failed").facets,
        [
            facet("state", "done", "Done", 1),
            facet("state", "failed", "Failed", 1),
            facet("state", "waiting", "Waiting", 1),
            facet("mode", "local", "Local", 1),
            facet("session", "ses_wal", "Flaky WAL recovery", 1),
        ]
    );
    assert_eq!(
        search(&desk, "tool:* session:flaky").facets,
        [
            facet("state", "done", "Done", 1),
            facet("state", "failed", "Failed", 1),
            facet("mode", "local", "Local", 1),
            facet("mode", "read", "Read", 1),
            facet("session", "ses_wal", "Flaky WAL recovery", 2),
            facet("session", "ses_notes", "Release notes", 1),
        ]
    );
}

#[test]
fn what_makes_no_sense_is_named_and_finds_nothing() {
    let desk = library();
    for (text, named) in [
        ("state:gone", "state:gone"),
        ("\"never closed", "never closed"),
        ("after:soon borrow", "after:soon"),
    ] {
        let page = search(&desk, text);
        let problem = page.problem.clone().unwrap();
        assert!(problem.message.contains(named), "{text}: {problem}");
        assert!(!problem.hint.is_empty());
        assert_eq!((page.hits.len(), page.total, page.facets.len()), (0, 0, 0));
    }
}

#[test]
fn hits_come_in_pages() {
    let desk = library();
    let ids = |offset, limit| {
        let page = desk.record.search("borrow", 0, offset, limit).unwrap();
        assert_eq!(page.total, 3);
        page.hits.into_iter().map(|hit| hit.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(0, 2), ["m1", "c2"]);
    assert_eq!(ids(2, 2), ["c1"]);
    assert!(ids(3, 2).is_empty());
    assert!(ids(0, 0).is_empty());
}

#[test]
fn a_call_is_found_while_it_waits_and_by_its_output_once_it_ended() {
    let mut desk = library();
    assert_eq!(found(&desk, "opened"), ["notes/c1"]);
    desk.tell("ses_notes", sample_events::started("c1"));
    desk.tell(
        "ses_notes",
        sample_events::ended("c1", CallState::Done, "replaced a line"),
    );
    assert_eq!(found(&desk, "opened replaced state:done"), ["notes/c1"]);
    desk = desk.reopen();
    desk.tell("ses_notes", sample_events::undone("c1", "und_1"));
    assert_eq!(found(&desk, "opened replaced state:undone"), ["notes/c1"]);
    desk.tell("ses_notes", sample_events::turn(1, "m2"));
    desk.tell(
        "ses_notes",
        sample_events::agent_said("m2", "halfway", false),
    );
    assert_eq!(found(&desk, "halfway"), Vec::<String>::new());
    desk.tell("ses_notes", sample_events::turn_ended(1, "m2"));
    assert_eq!(found(&desk, "halfway"), ["notes/m2"]);
    let session = SessionId::from("ses_notes");
    assert!(desk.record.entry(&session, "m2").unwrap().is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any text is a search or has a problem that says so; none ends as an error of the database.
    #[test]
    fn any_text_is_answered(texts in prop::collection::vec(
        prop_oneof![
            any::<String>(),
            "[\"*:a-c() ^+{}\\-\\\\\u{0}\u{1}\u{2}]{0,12}",
            "(NOT|AND|OR|NEAR|a|\"|\\*|:|tool:|state:|after:|words:| |\\(|\\)){0,8}",
        ], 8)) {
        thread_local!(static DESK: Desk = library());
        DESK.with(|desk| {
            for text in texts {
                let page = search(desk, &text);
                assert!(page.problem.is_none() || page.hits.is_empty());
            }
        });
    }
}

#[test]
fn a_call_is_found_by_its_state_from_its_first_moment() {
    let mut desk = Desk::new();
    desk.tell("ses_1", sample_events::opened("Begins"));
    for (told, state) in [
        (sample_events::proposed("c1", "bash", json!({})), "proposed"),
        (sample_events::judged("c1", "bash", "ls"), "proposed"),
        (sample_events::started("c1"), "running"),
        (sample_events::ended("c1", CallState::Done, "a.rs"), "done"),
    ] {
        desk.tell("ses_1", told);
        let page = search(&desk, &format!("state:{state}"));
        let [hit] = &page.hits[..] else {
            panic!("{state}: {page:#?}");
        };
        let entry = desk.record.entry(&"ses_1".into(), "c1").unwrap().unwrap();
        assert_eq!(
            entry,
            crate::support::folded(&desk.events(), &"ses_1".into())[0]
        );
        let protocol::EntryBody::Call(view) = entry.body else {
            panic!("a call");
        };
        assert_eq!(
            (hit.title.as_str(), hit.target.as_str(), hit.state),
            (view.title.as_str(), view.target.as_str(), Some(view.state))
        );
    }
}

/// A secret in the arguments of a call finds nothing, and no hit shows it.
#[test]
fn secrets_in_arguments_are_not_found() {
    let mut desk = Desk::new();
    let secret = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY42";
    let content = format!("region = north\naws_secret_access_key = {secret}\n");
    let arguments = json!({ "path": "keys.ini", "content": content, "password": "hunter2" });
    desk.tell("ses_1", sample_events::opened("Keys"));
    desk.tell("ses_1", sample_events::turn(1, "m1"));
    desk.tell("ses_1", sample_events::proposed("c1", "write", arguments));
    desk.tell("ses_1", sample_events::judged("c1", "write", "keys.ini"));
    desk.tell(
        "ses_1",
        sample_events::ended("c1", CallState::Done, "Written."),
    );
    for word in [secret, "hunter2"] {
        assert_eq!(search(&desk, word).hits, [], "{word}");
    }
    let line = "curl -u ada:hunter2 packages.example";
    desk.tell(
        "ses_1",
        sample_events::proposed("c2", "bash", json!({ "command": line })),
    );
    desk.tell("ses_1", sample_events::judged("c2", "bash", line));
    desk.tell(
        "ses_1",
        sample_events::ended("c2", CallState::Done, "north"),
    );
    assert_eq!(search(&desk, "hunter2").hits, []);
    let hits = search(&desk, "north").hits;
    assert_eq!(hits.len(), 2);
    let shown = format!("{hits:?}");
    assert!(
        !shown.contains(secret) && !shown.contains("hunter2"),
        "{shown}"
    );
}
