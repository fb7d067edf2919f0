//! `run` and `demo`: a session from beginning to end.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Stdio};

use protocol::event::{CallChange, MessageChange, SessionEvent};
use protocol::{Event, EventBody, SessionState};
use serde_json::json;

use crate::support::CliFixture;

const SCRIPT: &str = r#"{"turns":[
  {"text":"I look first.","calls":[{"name":"read","arguments":{"path":"a.txt"}}]},
  {"calls":[{"name":"edit","arguments":{"path":"a.txt","old_string":"alpha","new_string":"omega"}}]},
  {"calls":[{"name":"bash","arguments":{"command":"echo from the shell"}}]},
  {"text":"All done."}]}"#;

fn place() -> (CliFixture, String) {
    let place = CliFixture::new();
    place.write_file("a.txt", "alpha\nbeta\n");
    let script = place.write_outside_file("script.json", SCRIPT);
    (place, script)
}

#[test]
fn a_run_tells_its_story_and_counts_what_was_denied() {
    let (place, script) = place();
    let ran = place.run(&[
        "run",
        "--script",
        &script,
        "Put omega in the place of alpha.\nPlease.",
    ]);
    assert_eq!((ran.code, ran.err.as_str()), (3, ""), "{}", ran.out);
    let (story, summary) = ran.out.trim_end().rsplit_once('\n').unwrap();
    assert_eq!(
        story,
        "\
› Put omega in the place of alpha.
Please.

I look first.

✓ Read a.txt  read · done
  → 2 lines

✓ Edit a.txt  safe write · done
  @@ line 1 @@
  - alpha
  + omega
    beta
  → +1 −1

⊘ Run echo from the shell  local · denied
  Denied: nobody is there to ask, so asking means denying.

All done.
"
    );
    assert!(
        summary.starts_with("Done, 1 call denied · 4 turns · "),
        "{summary}"
    );
    assert_eq!(place.read_file("a.txt").as_deref(), Some("omega\nbeta\n"));

    let sessions = place.run_json(&["sessions"]);
    let view = &sessions["sessions"][0];
    assert_eq!(view["title"], "Put omega in the place of alpha.");
    assert_eq!(view["state"], "done");
    assert!(summary.ends_with(view["id"].as_str().unwrap()));
    assert_eq!(
        place
            .run_ok(&["show", "last"])
            .split_once("\n\n")
            .unwrap()
            .1
            .trim_end(),
        story.trim_end()
    );
}

#[test]
fn what_was_approved_beforehand_runs() {
    let (place, script) = place();
    let out = place.run_ok(&["run", "--script", &script, "--approve-all", "Go."]);
    assert!(out.contains("✓ Run echo from the shell"), "{out}");
    assert!(out.contains("│ from the shell"), "{out}");
    assert!(out.contains("\nDone · 4 turns"), "{out}");
}

#[test]
fn a_session_is_forked_before_the_last_message() {
    let (place, script) = place();
    place.run_ok(&["run", "--script", &script, "--approve-all", "Go."]);
    let told = place.run_ok(&["sessions", "fork", "last", "--back", "1"]);
    assert!(told.starts_with("Forked: Go.\nGo on: "), "{told}");
    let sessions = place.run_json(&["sessions"]);
    let titles: Vec<_> = sessions["sessions"].as_array().unwrap().iter().collect();
    assert_eq!(
        (&titles[0]["title"], &titles[1]["title"]),
        (&json!("Fork of Go."), &json!("Go."))
    );
    let fork = titles[0]["id"].as_str().unwrap();
    let story = place.run_ok(&["show", fork]);
    assert!(story.contains("Forked here from “Go.”"), "{story}");
    assert!(!story.contains("echo"), "nothing came before it: {story}");
    let refused = place.run(&["sessions", "fork", "last", "--back", "2"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    let whole = place.run_json(&["sessions", "fork", titles[1]["id"].as_str().unwrap()]);
    let story = place.run_ok(&["show", whole["session"].as_str().unwrap()]);
    assert!(story.contains("echo"), "{story}");
}

#[test]
fn a_run_as_json_is_its_events() {
    let (place, script) = place();
    let out = place.run_ok(&["run", "--json", "--script", &script, "--approve-all", "Go."]);
    let events: Vec<Event> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(events.windows(2).all(|pair| pair[0].seq + 1 == pair[1].seq));
    assert!(matches!(
        events[0].body,
        EventBody::Message {
            change: MessageChange::PersonSaid { .. },
            ..
        }
    ));
    let last = &events.last().unwrap().body;
    let done = SessionState::Done;
    assert_eq!(
        *last,
        EventBody::Session(SessionEvent::Changed { state: done })
    );
}

#[test]
fn what_cannot_run_says_why() {
    let (place, script) = place();
    let broken = place.write_outside_file("broken.json", r#"{"turns":[{"txt":"x"}]}"#);
    let table: &[(&[&str], i32, &str)] = &[
        (&["--script", &broken, "Go."], 2, "txt"),
        (&["--script", "missing.json", "Go."], 2, "missing.json"),
        (
            &["--script", &script, "--workspace", "missing", "Go."],
            2,
            "missing",
        ),
        (&["--script", &script, ""], 2, "nothing to say"),
        (
            &["--script", &script, "--provider", "anthropic", "Go."],
            2,
            "--provider",
        ),
        (&["--provider", "nobody", "Go."], 2, "nobody"),
        (&["Go."], 2, "--provider"),
        (
            &["--provider", "anthropic", "--model", "x", "Go."],
            1,
            "ANTHROPIC_API_KEY",
        ),
    ];
    for (args, code, named) in table {
        let args = [&["run"], *args].concat();
        let ran = place.run(&args);
        assert_eq!(ran.code, *code, "{args:?}: {ran:?}");
        let said = format!("{}{}", ran.out, ran.err);
        assert!(said.contains(named), "{args:?}: {said}");
    }
}

/// A run that says something and then takes a minute, once it is under way; also what it still writes.
#[cfg(unix)]
fn under_way(place: &CliFixture) -> (Child, BufReader<ChildStdout>) {
    let script = place.write_outside_file(
        "slow.json",
        r#"{"turns":[{"text":"first words and then a very long pause comes","delay_ms":60000}]}"#,
    );
    let mut child = place
        .command(&["run", "--script", &script, "Go."])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    // It was said: the run is under way.
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("Go.") {
        let mut byte = [0];
        out.read_exact(&mut byte).unwrap();
        seen.push(byte[0]);
    }
    (child, out)
}

#[cfg(unix)]
#[test]
fn the_keyboard_stops_a_run() {
    let place = CliFixture::new();
    let (mut child, out) = under_way(&place);
    let stopped = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(stopped.unwrap().success());
    let rest: Vec<String> = out.lines().map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(rest.last().unwrap().starts_with("Interrupted"), "{rest:?}");
    assert_eq!(
        place.run_json(&["sessions"])["sessions"][0]["state"],
        "interrupted"
    );
}

/// Where no window is ever opened, too, a run that was killed does not stand as running for ever.
#[cfg(unix)]
#[test]
fn a_killed_run_is_over() {
    let place = CliFixture::new();
    let (mut child, _out) = under_way(&place);
    let state = || place.run_json(&["sessions"])["sessions"][0]["state"].clone();
    assert_eq!(state(), "running");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(state(), "interrupted");
    assert!(
        place
            .run_ok(&["show", "last"])
            .contains("The app ended while")
    );
}

#[test]
fn the_demo_plays_whole() {
    let place = CliFixture::new();
    let out = place.run_ok(&["demo", "--data-dir", &place.data().display().to_string()]);
    for part in [
        "✓ Read src/parser.rs",
        "You allowed 2 of its changes.",
        "✓ Delete drafts",
        "✓ Run ",
        "You answered: ",
        "⊘ Read .env",
        "↶ Undid: Deleted drafts",
        "The demo is over.",
    ] {
        assert!(out.contains(part), "{part} is missing:\n{out}");
    }
    assert!(place.data().join("demo").is_dir());
    assert!(
        place
            .run_ok(&["show", "last"])
            .contains("✓ Read src/parser.rs")
    );
    let found = place.run_json(&["search", "tool:delete_path", "state:undone"]);
    assert_eq!(found["total"], 1);
}

#[test]
fn the_demo_leaves_nothing_behind_where_no_folder_is_named() {
    let place = CliFixture::new();
    let output = place
        .command(&["demo", "--json"])
        .env_remove("COUNTERSIGN_DATA_DIR")
        .env("TMPDIR", place.workspace())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    let events: Vec<Event> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(matches!(
        events.last().unwrap().body,
        EventBody::Call {
            change: CallChange::UndoApplied { .. },
            ..
        }
    ));
    if cfg!(unix) {
        assert_eq!(std::fs::read_dir(place.workspace()).unwrap().count(), 0);
    }
    assert!(!place.data().exists());
}

/// Live output is what the record exports afterwards, from the session's first event on (M19).
#[test]
fn a_run_is_told_in_a_specifications_words_while_it_happens() {
    for (words, lines_min) in [
        ("chat", 10),
        ("spans", 0),
        ("agent", 10),
        ("chunks", 10),
        ("tool-events", 10),
    ] {
        let (place, script) = place();
        let run = [
            "run", "--script", &script, "--json", "--events", words, "Go.",
        ];
        let ran = place.run(&run);
        assert_eq!((ran.code, ran.err.as_str()), (3, ""), "{}", ran.out);
        let kept = place.run_ok(&["export", "last", "--format", words]);
        assert_eq!(ran.out, kept, "{words}");
        assert!(kept.lines().count() > lines_min, "{words}: {kept}");
    }
    let (place, script) = place();
    let ran = place.run(&["run", "--script", &script, "--events", "chat", "Go."]);
    assert_eq!(ran.code, 2, "words are for programs, which read JSON");
}

/// The limits of a run come from the command line before the settings, and have an exit code of their own.
#[test]
fn a_run_stops_at_a_limit() {
    for (flags, text) in [
        (
            ["--max-turns", "2"],
            "The run reached its limit of 2 turns.",
        ),
        (["--max-calls", "1"], "The run reached its limit of 1 call."),
    ] {
        let (place, script) = place();
        let mut args = vec!["run", "--script", &script];
        args.extend(flags);
        args.push("Go.");
        let ran = place.run(&args);
        assert_eq!((ran.code, ran.err.as_str()), (5, ""), "{}", ran.out);
        assert!(ran.out.contains(text), "{}", ran.out);
        assert!(ran.out.contains("\nStopped at a limit · "), "{}", ran.out);
    }
    let (place, script) = place();
    let ran = place.run(&["run", "--script", &script, "--max-cost", "-1", "Go."]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    std::fs::create_dir_all(place.data()).unwrap();
    let settings = "[limits]\nturns = 1\n";
    std::fs::write(place.data().join("settings.toml"), settings).unwrap();
    assert_eq!(place.run(&["run", "--script", &script, "Go."]).code, 5);
    assert_eq!(
        place
            .run(&["run", "--script", &script, "--max-turns", "0", "Go."])
            .code,
        3
    );
}

/// Standard output holds the output and nothing else, so that it can go to a file; with --json it is the last line.
#[test]
fn a_run_gives_its_output_in_a_schema_s004_30_s004_38() {
    let place = CliFixture::new();
    place.write_file("a.txt", "alpha\n");
    let turn = |answer: serde_json::Value| serde_json::json!({ "text": answer.to_string() });
    let calls = turn(
        serde_json::json!({ "calls": [{ "_tool": "read", "path": "a.txt" }], "output": null }),
    );
    let last = turn(serde_json::json!({ "calls": [], "output": { "summary": "It says alpha." } }));
    let script = place.write_outside_file(
        "script.json",
        &serde_json::json!({ "turns": [calls, last] }).to_string(),
    );
    let schema =
        r#"{"type":"object","properties":{"summary":{"type":"string"}},"required":["summary"]}"#;
    let schema = place.write_outside_file("schema.json", schema);
    let args = [
        "run",
        "--script",
        &script,
        "--output-schema",
        &schema,
        "Sum it up.",
    ];
    let ran = place.run(&args);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert_eq!(ran.out, "{\n  \"summary\": \"It says alpha.\"\n}\n");
    assert!(
        ran.err.contains("✓ Read a.txt") && ran.err.contains("Done · 2 turns"),
        "{}",
        ran.err
    );

    let ran = place.run(&[&args[..], &["--json"]].concat());
    let mut lines = ran.out.lines();
    assert_eq!(
        lines.next_back(),
        Some(r#"{"output":{"summary":"It says alpha."}}"#)
    );
    assert!(lines.all(|line| serde_json::from_str::<Event>(line).is_ok()));

    for (text, told) in [
        ("{", "is not JSON"),
        (r#"{"type":"array"}"#, "not that of an object"),
    ] {
        let schema = place.write_outside_file("bad.json", text);
        let ran = place.run(&[
            "run",
            "--script",
            &script,
            "--output-schema",
            &schema,
            "Go.",
        ]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{text}");
        assert!(ran.err.contains(told), "{}", ran.err);
    }
    let never = serde_json::json!({ "turns": vec![serde_json::json!({ "text": "No." }); 5] });
    let never = place.write_outside_file("never.json", &never.to_string());
    let ran = place.run(&["run", "--script", &never, "--output-schema", &schema, "Go."]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (1, ""),
        "no output is no success"
    );
}

/// `S004-43`, `S004-47`: a run takes a whole request, with an output schema and a tool of its own; words of the caller come after
/// those of the request.
#[test]
fn a_run_takes_a_whole_request() {
    let place = CliFixture::new();
    let request = place.write_outside_file(
        "request.json",
        r#"{
            "config": { "provider": "nobody", "temperature": 0 },
            "output_schema": { "type": "object", "properties": { "summary": { "type": "string" } } },
            "context": [
                { "type": "tool", "tool": { "greetUser": { "type": "object", "properties": { "userName": { "type": "string" } } } } },
                { "type": "text", "text": "Greet Ada." }
            ]
        }"#,
    );
    let answer = serde_json::json!({
        "calls": [{ "_tool": "greetUser", "userName": "Ada" }],
        "output": { "summary": "Greeted." },
    });
    let turns = serde_json::json!({ "turns": [{ "text": answer.to_string() }] });
    let script = place.write_outside_file("script.json", &turns.to_string());
    let args = ["run", "--script", &script, "--request", &request];
    let ran = place.run(&args);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert_eq!(ran.out, "{\n  \"summary\": \"Greeted.\"\n}\n");
    assert!(ran.err.contains("✓ greetUser Ada"), "{}", ran.err);
    let story = place.run_ok(&["export", "last"]);
    assert!(story.contains("Greet Ada."), "{story}");

    let ran = place.run(&[&args[..], &["Be brief."]].concat());
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let story = place.run_ok(&["export", "last"]);
    let places = ["Greet Ada.", "Be brief."].map(|words| story.rfind(words));
    assert!(places[0].is_some() && places[0] < places[1], "{story}");

    let wrong = place.write_outside_file("wrong.json", "{\n\"context\": [{\"type\": \"image\"}]}");
    let ran = place.run(&["run", "--script", &script, "--request", &wrong]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(
        ran.err.contains("wrong.json, line 1: ") && ran.err.contains("image"),
        "{}",
        ran.err
    );
    let ran = place.run(&[
        "run",
        "--script",
        &script,
        "--request",
        &request,
        "--agent",
        "a.toml",
    ]);
    assert_eq!(ran.code, 2, "a request says all of it");
}

/// A command that is to run in place runs over a picture of the folder, or not at all.
#[cfg(unix)]
#[test]
fn nothing_runs_in_place_where_there_is_no_sandbox() {
    let place = CliFixture::new();
    place.write_file("a", "first\n");
    // Where no sandbox program is installed beside it.
    let folder = tempfile::tempdir_in(place.data().parent().unwrap()).unwrap();
    let alone = folder.path().join("countersign");
    std::fs::copy(env!("CARGO_BIN_EXE_countersign"), &alone).unwrap();
    let args = ["dry-run", "--in-place", "--json", "--", "echo more >> a"];
    let mut command = std::process::Command::new(alone);
    command
        .args(args)
        .current_dir(place.workspace())
        .env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("COUNTERSIGN_DATA_DIR", place.data());
    let ran = command.output().unwrap();
    let told = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(ran.status.code(), Some(1), "{told}");
    assert!(
        told.contains("It was not run for real") && told.contains("countersign-sandbox"),
        "{told}"
    );
    assert_eq!(place.read_file("a").unwrap(), "first\n");
}
