//! The same agents in a session of ours, started by `countersign run --agent` and asked by the Agent Client Protocol: what is
//! allowed, what a rule denies and why, what can be undone, and going on after the program was killed. And enclosed in the
//! sandbox, where a turn is judged by what it changed.

use std::path::Path;
use std::process::{Child, Stdio};

use crate::agents::{Agent, CLAUDE_CODE, CODEX, GEMINI_CLI, OPENCODE};
use crate::model::{FINAL, Model, PROMPT, SECOND_FINAL, SECOND_PROMPT, SLOW_PROMPT};
use crate::support::{CliFixture, CliRun, read_folder};
use crate::{REASON, on_path, recorded_calls};

/// Exit code of a run in which a call was denied.
const DENIED_CODE: i32 = 3;

/// Time after which a run is stopped, with its agent, in minutes.
const MINUTES_MAX: &str = "4";

/// What the record says of an agent whose commands are held to their effects.
const HELD: &str = "Its commands are held to the effects that were approved.";

/// What the record says of an agent that has lost its session.
const LOST: &str = "it remembers nothing of it";

#[test]
fn claude_code_answers_in_a_session() {
    run_story(&CLAUDE_CODE);
}

#[test]
fn opencode_answers_in_a_session() {
    run_story(&OPENCODE);
}

#[test]
fn gemini_cli_answers_in_a_session() {
    run_story(&GEMINI_CLI);
}

#[test]
fn codex_answers_in_a_session() {
    run_story(&CODEX);
}

#[test]
fn claude_code_works_enclosed() {
    run_enclosed_story(&CLAUDE_CODE);
}

#[test]
fn gemini_cli_works_enclosed() {
    run_enclosed_story(&GEMINI_CLI);
}

#[test]
fn opencode_works_enclosed() {
    run_enclosed_story(&OPENCODE);
}

#[test]
fn claude_code_works_with_the_model_that_was_chosen() {
    let agent = &CLAUDE_CODE;
    let place = CliFixture::new();
    let model = Model::start(&place, &[]);
    let start = ["--agent", agent.id];

    let args = [&start[..], &["--option", "unknown=1", SECOND_PROMPT]].concat();
    let refused = finish_run(agent, &place, model.base_url(), &args);
    assert_eq!(refused.code, 1, "{refused:?}");
    let offered = "The agent has no option `unknown`. It offers mode (default, ";
    assert!(refused.out.contains(offered), "{refused:?}");

    let args = [&start[..], &["--option", "model=sonnet", SECOND_PROMPT]].concat();
    let ran = finish_run(agent, &place, model.base_url(), &args);
    assert_eq!(ran.code, 0, "{ran:?}");
    let asked = [SECOND_PROMPT, "\"model\":\"claude-sonnet"];
    assert!(model.has_request(&asked), "{}", model.requests());
}

/// A turn with a read, a write, a command, and a command that a rule denies; a turn that is killed; and one that goes on.
fn run_story(agent: &Agent) {
    let place = CliFixture::new();
    place.write_file("seen.txt", "alpha\n");
    place.write_file("kept.txt", "one\n");
    let before = read_folder(&place.workspace());
    let rules = format!(
        "[[rule]]\npermission = \"bash\"\npattern = \"rm *\"\naction = \"deny\"\nreason = \"{REASON}\"\n"
    );
    std::fs::create_dir_all(place.data()).unwrap();
    std::fs::write(place.data().join("rules.toml"), rules).unwrap();
    let turns = match agent.session_turns {
        Some(turns) => turns(),
        None => (agent.turns)(&place.workspace()),
    };
    let model = Model::start(&place, &turns);
    (agent.configure)(&place, model.base_url());

    let args = ["--agent", agent.id, "--approve-all", PROMPT];
    let first = finish_run(agent, &place, model.base_url(), &args);
    assert_eq!(first.code, DENIED_CODE, "{first:?}");
    assert!(first.out.contains(FINAL), "{first:?}");

    // The disk: the command ran once, and what was denied is there.
    assert_eq!(place.read_file("made.txt").unwrap(), "two\n");
    assert_eq!(place.read_file("runs.txt").unwrap(), "ran\n");
    assert_eq!(place.read_file("kept.txt").unwrap(), "one\n");
    // The model: it read the file, what the command printed, and why a command was denied.
    let read = model.requests();
    for text in ["alpha", "PRINTED", REASON] {
        assert!(read.contains(text), "{text}: {read}");
    }
    // The record, and the way back.
    assert_eq!(recorded_calls(&place), agent.session_record);
    let shown = place.run_ok(&["show", "last", "--json"]);
    assert_eq!(shown.contains(HELD), agent.is_held, "{shown}");
    for _ in 0..2 {
        place.run_ok(&["undo"]);
    }
    assert_eq!(read_folder(&place.workspace()), before);

    // Our program is killed while the agent waits for its model.
    let args = ["--continue", "--approve-all", SLOW_PROMPT];
    let mut slow = start_run(agent, &place, model.base_url(), &args);
    // An agent that may have lost its session by then does not send the first prompt again.
    match agent.survives {
        true => model.wait_for_request(&[PROMPT, SLOW_PROMPT]),
        false => model.wait_for_request(&[SLOW_PROMPT]),
    }
    slow.kill().unwrap();
    slow.wait().unwrap();

    go_on(agent, &place, &model);
    assert_eq!(read_folder(&place.workspace()), before);
}

/// A turn whose changes are one call, undone as one; and the next turn, which goes on with the agent's own session.
fn run_enclosed_story(agent: &Agent) {
    // What programs keep in the folder for temporary files is out of sight in a sandbox.
    let place = CliFixture::new_in(Path::new(env!("CARGO_TARGET_TMPDIR")));
    place.write_file("seen.txt", "alpha\n");
    place.write_file("kept.txt", "one\n");
    let before = read_folder(&place.workspace());
    let model = Model::start(&place, &(agent.turns)(&place.workspace()));
    (agent.configure)(&place, model.base_url());
    let (_, host) = model.base_url().split_once("://").unwrap();

    let enclosed = ["--agent", agent.id, "--enclosed", "--allow-host", host];
    let args = [&enclosed[..], &["--approve-all", PROMPT]].concat();
    let first = finish_run(agent, &place, model.base_url(), &args);
    assert_eq!(first.code, 0, "{first:?}");
    assert!(first.out.contains(FINAL), "{first:?}");

    // All that it did is in the folder, by one call.
    assert_eq!(place.read_file("made.txt").unwrap(), "two\n");
    assert_eq!(place.read_file("runs.txt").unwrap(), "ran\n");
    assert_eq!(place.read_file("kept.txt"), None);
    let calls = recorded_calls(&place);
    assert_eq!(calls.last().unwrap(), "enclosed_turn done", "{calls:?}");
    place.run_ok(&["undo"]);
    assert_eq!(read_folder(&place.workspace()), before);

    go_on(agent, &place, &model);
    assert_eq!(read_folder(&place.workspace()), before);
}

/// Another turn: the agent goes on with its own session, in which it has the first prompt, or says that it has lost it.
fn go_on(agent: &Agent, place: &CliFixture, model: &Model) {
    let args = ["--continue", "--approve-all", SECOND_PROMPT];
    let ran = finish_run(agent, place, model.base_url(), &args);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains(SECOND_FINAL), "{ran:?}");
    assert!(
        !ran.out.contains(FINAL),
        "what was said before is not said again: {ran:?}"
    );
    let remembers = model.has_request(&[PROMPT, SECOND_PROMPT]);
    assert!(remembers || !agent.survives, "{}", model.requests());
    assert_ne!(remembers, ran.out.contains(LOST), "{ran:?}");
}

/// Runs `countersign run` with these arguments to its end, with a model at this address.
pub fn finish_run(agent: &Agent, place: &CliFixture, model: &str, args: &[&str]) -> CliRun {
    let ran = start_run(agent, place, model, args).wait_with_output();
    let ran = ran.unwrap();
    CliRun {
        code: ran.status.code().unwrap_or(-1),
        out: String::from_utf8(ran.stdout).unwrap(),
        err: String::from_utf8(ran.stderr).unwrap(),
    }
}

/// Starts `countersign run` with these arguments.
fn start_run(agent: &Agent, place: &CliFixture, model: &str, args: &[&str]) -> Child {
    let mut command = place.command(&[&["run"], args].concat());
    command.args(["--max-minutes", MINUTES_MAX]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.envs((agent.variables)(model));
    on_path(command).spawn().unwrap()
}
