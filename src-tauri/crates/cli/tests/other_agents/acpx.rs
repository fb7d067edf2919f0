//! `acpx`, a client of the Agent Client Protocol that is made with the TypeScript library, in front of `countersign acp`.

use std::process::Command;

use crate::support::{CliFixture, CliRun, read_folder};
use crate::{REASON, programs};

/// What the agent does: a write that passes, a command that asks, and a command that a rule denies; then the next prompt.
const SCRIPT: &str = r#"{"turns":[
  {"calls":[{"name":"write","arguments":{"path":"made.txt","content":"two\n"}}]},
  {"calls":[{"name":"bash","arguments":{"command":"cp kept.txt copied.txt"}}]},
  {"calls":[{"name":"bash","arguments":{"command":"rm kept.txt"}}]},
  {"text":"All of it is over."},
  {"text":"Nothing comes now."}]}"#;

/// A workspace with one file, and a rule that denies its removal.
fn set_up() -> CliFixture {
    let place = CliFixture::new();
    place.write_file("kept.txt", "one\n");
    let rules = format!(
        "[[rule]]\npermission = \"bash\"\npattern = \"rm *\"\naction = \"deny\"\nreason = \"{REASON}\"\n"
    );
    std::fs::create_dir_all(place.data()).unwrap();
    std::fs::write(place.data().join("rules.toml"), rules).unwrap();
    place
}

/// Runs acpx with these words in front of our agent, which plays [`SCRIPT`].
fn run_acpx(place: &CliFixture, words: &[&str]) -> CliRun {
    let script = place.write_outside_file("script.json", SCRIPT);
    let program = env!("CARGO_BIN_EXE_countersign");
    let agent = format!("{program} acp --script {script}");
    let mut acpx = Command::new(programs().join("acpx"));
    acpx.args(["--agent", &agent, "--timeout", "60"])
        .args(words);
    acpx.current_dir(place.workspace());
    acpx.env_clear().envs(place.environment());
    let output = acpx.output().unwrap();
    CliRun {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn acpx_allows_what_no_rule_denies() {
    let place = set_up();
    let before = read_folder(&place.workspace());
    let ran = run_acpx(&place, &["--approve-all", "exec", "Go."]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("All of it is over."), "{ran:?}");
    assert_eq!(place.read_file("made.txt").as_deref(), Some("two\n"));
    assert_eq!(place.read_file("copied.txt").as_deref(), Some("one\n"));
    assert_eq!(place.read_file("kept.txt").as_deref(), Some("one\n"));
    // It was asked about one command, and told why the other one was denied.
    let asked = ran.out.matches("session/request_permission").count();
    assert_eq!(asked, 1, "{ran:?}");
    assert!(ran.out.contains(REASON), "{ran:?}");
    for _ in 0..2 {
        place.run_ok(&["undo"]);
    }
    assert_eq!(read_folder(&place.workspace()), before);
}

#[test]
fn acpx_denies_and_is_obeyed() {
    let place = set_up();
    let ran = run_acpx(&place, &["--deny-all", "exec", "Go."]);
    assert!(
        ran.out.contains("The person rejected this call."),
        "{ran:?}"
    );
    assert_eq!(place.read_file("made.txt").as_deref(), Some("two\n"));
    assert_eq!(place.read_file("copied.txt"), None);
    assert_eq!(place.read_file("kept.txt").as_deref(), Some("one\n"));
}

/// Each prompt starts the agent anew, which goes on with the session that it is told.
#[test]
fn acpx_goes_on_with_a_session() {
    let place = set_up();
    // Its process that keeps the agent ends after one idle second.
    let run = |words: &[&str]| {
        let ran = run_acpx(&place, &[&["--ttl", "1", "--approve-all"], words].concat());
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
        ran.out
    };
    let session = run(&["sessions", "new", "--name", "one"]);
    let said = run(&["prompt", "-s", "one", "Go."]);
    assert!(said.contains("All of it is over."), "{said}");
    let said = run(&["prompt", "-s", "one", "And now?"]);
    assert!(said.contains("Nothing comes now."), "{said}");
    run(&["sessions", "close", "one"]);
    let sessions = place.run_json(&["sessions"]);
    let ids: Vec<&str> = sessions["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["id"].as_str().unwrap())
        .collect();
    assert!(
        matches!(ids[..], [id] if session.contains(id)),
        "{ids:?}: {session}"
    );
}
