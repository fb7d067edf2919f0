//! Agents that other people wrote, each connected by `countersign connect` and asked by a made-up model to use its tools:
//! what is allowed, what a person answers on the Desk, what a rule denies, and what can be undone. And the same agents in a
//! session of ours, also with a server that they are given. And our agent, with somebody else's client. Installed by
//! `cargo xtask test --agents`.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    dead_code,
    missing_docs,
    reason = "tests set up real files and start programs, and end where they fail; of the support they need a part"
)]

mod acpx;
mod agents;
mod desk;
#[path = "../../../../../tests/aimock/endpoint.rs"]
mod endpoint;
mod given_servers;
mod model;
mod named_tools;
mod session;
#[path = "../it/support.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::agents::{Agent, CLAUDE_CODE, CODEX, GEMINI_CLI, OPENCODE};
use crate::desk::Desk;
use crate::model::{FINAL, Model};
use crate::support::{CliFixture, read_folder};

/// Time after which an agent is ended, with every process that it started, in seconds.
const AGENT_SECONDS_MAX: &str = "90";

/// What a rule says, and the model of the agent has to read.
const REASON: &str = "nothing is removed in this folder";

#[tokio::test(flavor = "multi_thread")]
async fn claude_code_asks_and_obeys() {
    run_story(&CLAUDE_CODE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn opencode_asks_and_obeys() {
    run_story(&OPENCODE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gemini_cli_asks_and_obeys() {
    run_story(&GEMINI_CLI).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn codex_asks_and_obeys() {
    run_story(&CODEX).await;
}

/// One read that passes, one write that a person allows, one command that runs once, and one that a rule denies.
async fn run_story(agent: &Agent) {
    let place = CliFixture::new();
    place.write_file("seen.txt", "alpha\n");
    place.write_file("kept.txt", "one\n");
    let before = read_folder(&place.workspace());
    let rules = format!(
        "[[rule]]\npermission = \"{}\"\naction = \"ask\"\n\n\
         [[rule]]\npermission = \"bash\"\npattern = \"rm *\"\naction = \"deny\"\nreason = \"{REASON}\"\n",
        agent.write_tool
    );
    std::fs::create_dir_all(place.data()).unwrap();
    std::fs::write(place.data().join("rules.toml"), rules).unwrap();
    let model = Model::start(&place, &(agent.turns)(&place.workspace()));
    (agent.configure)(&place, model.base_url());
    let connected = on_path(place.command(&["connect", agent.id, "--yes"])).output();
    assert!(
        connected.as_ref().unwrap().status.success(),
        "{connected:?}"
    );

    let desk = Desk::open(&place).await;
    let mut program = start_command(agent, &place, &model);
    let ran = tokio::task::spawn_blocking(move || program.output().unwrap());
    let ran = ran.await.unwrap();
    let cards = desk.close().await;
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && said.contains(FINAL), "{ran:?}");

    // The disk: the command ran once, and what was denied is there.
    assert_eq!(place.read_file("made.txt").unwrap(), "two\n");
    assert_eq!(place.read_file("runs.txt").unwrap(), "ran\n");
    assert_eq!(place.read_file("kept.txt").unwrap(), "one\n");
    // The person was asked about the write alone.
    assert_eq!(cards, [agent.write_tool], "{ran:?}");
    // The model: it read the file, what the command printed, and why a command was denied.
    let read = model.requests();
    for text in ["alpha", "PRINTED", REASON] {
        assert!(read.contains(text), "{text}: {read}");
    }
    // The record, and the way back.
    assert_eq!(recorded_calls(&place), agent.record);
    for _ in 0..2 {
        place.run_ok(&["undo"]);
    }
    assert_eq!(read_folder(&place.workspace()), before);
}

/// The command that starts an agent with the prompt.
fn start_command(agent: &Agent, place: &CliFixture, model: &Model) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", AGENT_SECONDS_MAX]);
    command
        .arg(programs().join(agent.program))
        .args(agent.words);
    command.current_dir(place.workspace()).stdin(Stdio::null());
    command.env_clear().envs(place.environment());
    command.envs((agent.variables)(model.base_url()));
    on_path(command)
}

/// Where the programs of the agents are.
fn programs() -> PathBuf {
    let root = std::env::var("COUNTERSIGN_AGENTS")
        .expect("run these tests by `cargo xtask test --agents`, which installs the agents");
    Path::new(&root).join("node_modules/.bin")
}

/// Puts the agents' programs on the path of a command.
fn on_path(mut command: Command) -> Command {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(programs()).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(folders).unwrap());
    command
}

/// The calls of the last session, each with how it ended.
fn recorded_calls(place: &CliFixture) -> Vec<String> {
    let shown = place.run_ok(&["show", "last", "--json"]);
    let entries = shown
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let calls = entries.filter(|entry| entry["body"]["type"] == "call");
    calls
        .map(|call| {
            let body = &call["body"];
            format!(
                "{} {}",
                body["tool"].as_str().unwrap(),
                body["state"].as_str().unwrap()
            )
        })
        .collect()
}
