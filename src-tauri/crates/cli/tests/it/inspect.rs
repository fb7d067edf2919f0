//! `sessions`, `show`, `search`, `export`: looking changes nothing, and nothing recorded can harm who looks.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use agent::{Engine, EngineConfig, Host};
use protocol::event::{CallChange, SessionEvent};
use protocol::{Entry, Event, EventBody, ModelChoice, Op};
use provider::{Script, ScriptedProvider};

use crate::support::{CliFixture, read_folder};

/// Two sessions: one that read a file, one that was denied a command.
fn told() -> CliFixture {
    let place = CliFixture::new();
    place.write_file("notes.md", "The borrow checker is right.\n");
    place.run_ok(&["call", "read", r#"{"path":"notes.md"}"#]);
    let denied = place.run(&["call", "bash", r#"{"command":"borrow money"}"#]);
    assert_eq!(denied.code, 3);
    place
}

#[test]
fn an_empty_folder_says_what_to_do() {
    let place = CliFixture::new();
    assert!(place.run_ok(&["sessions"]).contains("countersign run"));
    assert_eq!(
        place.run_json(&["sessions"])["sessions"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
    for name in ["last", "ses_1"] {
        let ran = place.run(&["show", name]);
        assert_eq!(ran.code, 2);
        assert!(
            ran.err.contains(&format!("There is no session {name}.")),
            "{}",
            ran.err
        );
    }
}

#[test]
fn sessions_are_named_by_id_by_its_beginning_and_as_the_last() {
    let place = told();
    let sessions = place.run_json(&["sessions"]);
    let id = |n: usize| sessions["sessions"][n]["id"].as_str().unwrap().to_owned();
    let last = place.run_ok(&["show", "last"]);
    assert!(last.contains("⊘ Run borrow money"), "{last}");
    assert_eq!(place.run_ok(&["show", &id(0)]), last);
    let first = place.run_ok(&["show", &id(1)[..id(1).len() - 1]]);
    assert!(first.contains("✓ Read notes.md"), "{first}");
    for n in [0, 1] {
        let short = &id(n)[id(n).len() - 8..];
        assert_eq!(
            place.run_ok(&["show", short]),
            place.run_ok(&["show", &id(n)])
        );
        let ran = place.run(&["show", "ses_"]);
        assert_eq!(ran.code, 2);
        let told = "2 sessions are named by ses_: ";
        assert!(ran.err.contains(told), "{}", ran.err);
        assert!(ran.err.contains(&id(n)[id(n).len() - 4..]), "{}", ran.err);
    }

    let entries: Vec<Entry> = place
        .run_ok(&["show", "last", "--json"])
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(entries.iter().any(|entry| entry.id.starts_with("call_")));
}

#[test]
fn search_finds_and_names_what_makes_no_sense() {
    let place = told();
    let out = place.run_ok(&["search", "borrow"]);
    assert!(
        out.contains("✓ Read notes.md") && out.contains("⊘ Run borrow money"),
        "{out}"
    );
    assert!(out.contains("2 of "), "{out}");
    let page = place.run_json(&["search", "borrow", "state:denied"]);
    assert_eq!(
        (&page["total"], page["hits"][0]["title"].as_str()),
        (&1.into(), Some("Run"))
    );
    assert_eq!(
        place.run_json(&["search", "borrow", "--limit", "1"])["hits"]
            .as_array()
            .unwrap()
            .len(),
        1
    );

    let ran = place.run(&["search", "state:bogus"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("state:bogus"), "{}", ran.err);
    let ran = place.run(&["search", "state:bogus", "--json"]);
    assert_eq!((ran.code, ran.err.as_str()), (2, ""));
    let value: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert!(
        value["error"]["message"]
            .as_str()
            .unwrap()
            .contains("state:bogus")
    );
}

/// S003-73 as a person asks for it; the numbers are events that `export` has.
#[test]
fn the_account_of_a_call_has_seven_lines() {
    let place = told();
    let entries = place.run_ok(&["show", "last", "--json"]);
    let denied = entries
        .lines()
        .map(|line| serde_json::from_str::<Entry>(line).unwrap())
        .find(|entry| matches!(entry.body, protocol::EntryBody::Call(_)))
        .unwrap();
    let account = place.run_ok(&["show", "last", "--call", &denied.id]);
    let parts: Vec<_> = account
        .lines()
        .map(|line| line.split_once(' ').unwrap().0)
        .collect();
    assert_eq!(
        parts,
        [
            "validated",
            "authorised",
            "executed",
            "streamed",
            "rendered",
            "persisted",
            "audited"
        ]
    );
    assert!(account.contains("Never ran; denied."), "{account}");
    let value = place.run_json(&["show", "last", "--call", &denied.id]);
    assert_eq!(value["account"]["executed"]["state"], "denied");
    let ran = place.run(&["show", "last", "--call", "call_none"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("call_none"), "{}", ran.err);
}

#[test]
fn export_writes_a_story_or_events() {
    let place = told();
    let story = place.run_ok(&["export", "last"]);
    assert!(story.starts_with("# Call bash\n"), "{story}");
    assert_eq!(place.run_ok(&["export", "last", "--format", "md"]), story);
    let events = place.run_ok(&["export", "last", "--format", "jsonl"]);
    let events: Vec<Event> = events
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(matches!(
        events[0].body,
        EventBody::Session(SessionEvent::Opened { .. })
    ));
    let value = place.run_json(&["export", "last"]);
    assert_eq!(value["text"], story);
    for (words, first) in [
        ("chat", r#"{"type":"agent","#),
        ("spans", r#"{"traceId":"#),
        ("agent", r#"{"type":"AgentStart","#),
        ("chunks", r#"{"type":"data-person","#),
        ("tool-events", r#"{"schema_version":"0.2.0","#),
    ] {
        let told = place.run_ok(&["export", "last", "--format", words]);
        assert!(told.starts_with(first), "{words}: {told}");
    }
    assert_eq!(place.run(&["export", "last", "--format", "pdf"]).code, 2);
}

#[test]
fn nothing_recorded_speaks_to_the_terminal() {
    let place = CliFixture::new();
    place.write_file(
        "evil.txt",
        "\u{1b}[2J\u{1b}]0;owned\u{7} rm \u{202e}txt.exe\n",
    );
    let call = ["call", "read", r#"{"path":"evil.txt"}"#];
    for args in [
        &call[..],
        &["show", "last"],
        &["search", "owned"],
        &["export", "last"],
    ] {
        let out = place.run_ok(args);
        assert!(
            !out.contains(['\u{1b}', '\u{7}', '\u{202e}']),
            "{args:?}: {out:?}"
        );
    }
}

#[test]
fn a_file_that_is_no_record_is_refused_untouched() {
    let place = CliFixture::new();
    std::fs::create_dir(place.data()).unwrap();
    std::fs::write(
        place.data().join("record.db"),
        "Dear diary, this is not a database.",
    )
    .unwrap();
    for args in [
        &["sessions"][..],
        &["run", "--provider", "demo", "Go."],
        &["undo"],
    ] {
        let ran = place.run(args);
        assert_eq!(ran.code, 4, "{ran:?}");
        assert!(ran.err.contains("record.db"), "{}", ran.err);
    }
    let files = read_folder(&place.data());
    let record = files.iter().find(|(path, _)| path.ends_with("record.db"));
    assert_eq!(record.unwrap().1, b"Dear diary, this is not a database.");
}

#[test]
fn the_data_folder_can_be_named_before_and_after_the_verb() {
    let place = CliFixture::new();
    let other = place.workspace().join("elsewhere").display().to_string();
    place.run_ok(&["--data-dir", &other, "call", "glob", r#"{"pattern":"*"}"#]);
    assert_eq!(
        place.run_json(&["sessions"])["sessions"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
    let there = place.run_json(&["sessions", "--data-dir", &other]);
    assert_eq!(there["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn usage_is_explained() {
    let place = CliFixture::new();
    for (args, code, named) in [
        (&["--help"][..], 0, "Exit codes:"),
        (&["--version"], 0, env!("CARGO_PKG_VERSION")),
        (&[], 2, "Usage"),
        (&["bogus"], 2, "bogus"),
        (&["call", "read"], 2, "ARGS_JSON"),
        (&["call", "read", "[]"], 2, "not a JSON object"),
        (&["call", "read", "{"], 2, "line 1"),
    ] {
        let ran = place.run(args);
        assert_eq!(ran.code, code, "{ran:?}");
        let said = format!("{}{}", ran.out, ran.err);
        assert!(said.contains(named), "{args:?}: {said}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = told();
    let mut child = place
        .command(&["export", "last"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

/// A window's call waits on its desk; the command line works on the same folder, and leaves it waiting.
#[tokio::test]
async fn what_waits_in_the_window_is_left_alone() {
    let place = CliFixture::new();
    place.write_file("a.txt", "alpha\n");
    let script = r#"{"turns":[{"calls":[{"name":"bash","arguments":{"command":"echo hi"}}]}]}"#;
    let config = EngineConfig {
        provider: Some(Arc::new(ScriptedProvider::new(
            Script::parse(script).unwrap(),
        ))),
        ..EngineConfig::new(place.data(), Host::Person)
    };
    let desk = Engine::open(config).await.unwrap();
    let mut events = desk.subscribe(0);
    let op = Op::OpenSession {
        workspace: place.workspace().display().to_string(),
        model: ModelChoice {
            provider: "script".into(),
            model: String::new(),
        },
        prompt: Some("Go.".into()),
        output_schema: None,
        temperature: None,
        agent: None,
        planning: false,
        enclosure: None,
        servers: None,
        former: None,
    };
    desk.submit(op).await.unwrap();
    let waits = async {
        loop {
            let batch = events.next().await.unwrap().unwrap();
            if batch.iter().any(|event| {
                matches!(
                    event.body,
                    EventBody::Call {
                        change: CallChange::Waiting { .. },
                        ..
                    }
                )
            }) {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waits)
        .await
        .unwrap();
    let before = desk.snapshot().await.unwrap();
    assert_eq!(before.desk.len(), 1);

    for args in [
        &["sessions"][..],
        &["show", "last"],
        &["search", "echo"],
        &["history"],
        &["export", "last"],
    ] {
        place.run_ok(args);
    }
    let looked = desk.snapshot().await.unwrap();
    assert_eq!(looked.seq, before.seq, "looking records nothing");
    place.run_ok(&["call", "read", r#"{"path":"a.txt"}"#]);
    let after = desk.snapshot().await.unwrap();
    assert_eq!(after.desk, before.desk);
    assert_eq!(after.sessions.len(), 2, "the call has a session of its own");
}
