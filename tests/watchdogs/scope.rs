//! Calls that a watchdog is asked about, and what it is told of the agent that makes them.

use std::fs;
use std::path::Path;

use agent::Host;
use protocol::{CallState, Decision};
use serde_json::{Value, json};
use support::scripted_agents::ScriptedAgents;
use support::servers::stdio_server;
use support::{Fixture, HEADLESS, call_bash, call_read, call_tool, say_text};

use crate::agents::manifests;
use crate::watchdogs::checks::install_watchdog;

/// It keeps what it hears, a line for each call, and lets everything pass.
const HEARS: &str = "cat >> HEARD; echo '{\"verdict\":\"allow\"}'";

const LATENT: &str = r#"{"mood": {
    "type": "object",
    "properties": {"text": {"type": "string"}, "_output": {"type": "string"}}
}}"#;

const DELEGATED: &str = r#"{"review": {
    "type": "object",
    "properties": {"_delegate": {"const": "reviewer"}, "_output": {"type": "object"}}
}}"#;

const DELEGATE: &str = r#"{
    "config": {"tools": ["read"]},
    "context": [{"type": "text", "text": "You review one file."}]
}"#;

/// Everything that the watchdog heard.
fn heard(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

/// The tool of one call that it heard of, and one of its arguments.
fn told(one: &Value, argument: &str) -> (String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&one["tool"]), text(&one["arguments"][argument]))
}

/// `S002-86`: it is asked about every kind of call: of a tool of ours, of one that the model carries out itself, of one
/// that a delegate carries out, of the delegate's own, of a server's.
#[tokio::test]
async fn a_watchdog_is_asked_about_every_kind_of_call() {
    let looks = json!({ "calls": [{ "_tool": "read", "path": "a" }], "output": null });
    let done = json!({ "calls": [], "output": {} });
    let cast = ScriptedAgents::new(
        [
            call_read("a"),
            call_tool("mood", json!({ "text": "hm", "_output": "calm" })),
            call_tool("review", json!({})),
            call_tool("one__echo", json!({ "message": "hello" })),
        ],
        [(
            "You review",
            json!([say_text(&looks.to_string()), say_text(&done.to_string())]),
        )],
    );
    let mut desk = Fixture::with_provider(cast, HEADLESS).await;
    desk.write_rules("[[rule]]\npermission = \"one__*\"\naction = \"allow\"\n");
    desk.write_file("a", "text\n")
        .write_file(".countersign/tools/mood.json", LATENT)
        .write_file(".countersign/tools/review.json", DELEGATED)
        .write_file(".countersign/delegates/reviewer.json", DELEGATE);
    let file = install_watchdog(&desk, HEARS).await;
    let way = stdio_server(env!("CARGO_BIN_EXE_mcp_server"), &["few"], &[]);
    desk.add_server(way).await;
    desk.start("Go.").await;
    desk.wait_until_session_ended().await;
    assert_eq!(desk.call_states().await, [CallState::Done; 4]);

    let heard = heard(&file);
    let asked: Vec<&str> = heard
        .iter()
        .map(|one| one["tool"].as_str().unwrap())
        .collect();
    assert_eq!(asked, ["read", "mood", "review", "read", "one__echo"]);
    let sessions: Vec<bool> = heard
        .iter()
        .map(|one| one["session"] == desk.session.0.as_str())
        .collect();
    assert_eq!(
        sessions,
        [true, true, true, false, true],
        "the session is that of the call"
    );
}

/// `S002-86`: it is asked again about a call whose arguments a person changed, and about what a dry run showed.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_watchdog_is_asked_again_about_what_became_of_a_call() {
    let sandbox = Some(env!("CARGO_BIN_EXE_sandbox_program"));
    let mut desk = Fixture::with_sandbox([call_bash("echo one")], Host::Person, sandbox).await;
    let file = install_watchdog(&desk, HEARS).await;
    desk.start("Go.").await;
    desk.edit_next(json!({ "command": "echo two > made" }))
        .await;
    let card = desk.wait_for_call().await;
    assert_eq!(
        heard(&file).last().map(|one| told(one, "command")),
        Some(("bash".to_owned(), "echo two > made".to_owned()))
    );
    let before = heard(&file).len();
    desk.decide_call(&card, Decision::DryRun).await.unwrap();
    let card = desk.wait_for_call().await;
    let tried = heard(&file).split_off(before);
    let effect =
        json!({ "capability": "fs.write", "target": "made", "real": "made", "inside": true });
    assert!(
        tried
            .iter()
            .any(|one| one["accesses"].as_array().unwrap().contains(&effect)),
        "{tried:#?}"
    );
    desk.allow_call(&card).await;
    desk.wait_until_ended().await;
    assert_eq!(desk.read_file("made").as_deref(), Some("two\n"));
}

const MANIFEST: &str = r#"name = "lead"
description = "Leads."
prompt = "You lead."
tools = ["read", "task"]
default = "allow"

[requires]
fs = { read = ["docs/**"] }

[[rule]]
permission = "read"
pattern = "docs/a.md"
action = "allow"
reason = "It is public."
"#;

const BELOW: &str =
    "---\nname: reviewer\ndescription: Reads and judges.\ntools: [read]\n---\nYou review.\n";

/// `S002-87`: it is given the manifest of the agent that calls, and not only what that requires; of one that works for
/// another, its own.
#[tokio::test]
async fn a_watchdog_is_given_the_manifest_of_the_agent_that_calls() {
    let reads = call_read("docs/a.md");
    let gives = call_tool(
        "task",
        json!({ "subagent_type": "reviewer", "prompt": "Look." }),
    );
    let cast = ScriptedAgents::new([reads.clone(), gives], [("You review.", json!([reads]))]);
    let mut desk = Fixture::with_provider(cast, Host::Person).await;
    desk.write_file(".countersign/agents/reviewer.md", BELOW);
    let file = install_watchdog(&desk, HEARS).await;
    manifests::begin_with_manifest(&mut desk, MANIFEST)
        .await
        .unwrap();
    desk.wait_until_session_ended().await;
    assert_eq!(desk.call_states().await, [CallState::Done; 2]);

    let heard = heard(&file);
    let named: Vec<(&str, &str)> = heard
        .iter()
        .map(|one| {
            let text = |value: &'static str| one.pointer(value).and_then(Value::as_str).unwrap();
            (text("/tool"), text("/manifest/name"))
        })
        .collect();
    assert_eq!(
        named,
        [("read", "lead"), ("task", "lead"), ("read", "reviewer")]
    );
    let manifest = desk.data_dir().join("agent.toml").display().to_string();
    assert_eq!(
        heard[0]["manifest"],
        json!({
            "name": "lead",
            "description": "Leads.",
            "prompt": "You lead.",
            "tools": ["read", "task"],
            "provider": null,
            "model": null,
            "roots": [],
            "requires": { "fs": { "read": ["docs/**"] } },
            "default": "allow",
            "rules": [{
                "permission": "read",
                "pattern": "docs/a.md",
                "action": "allow",
                "reason": "It is public.",
                "scope": "manifest",
                "file": manifest,
                "line": 10,
            }],
        })
    );
    assert_eq!(
        heard[0]["requires"]["fs"]["read"],
        json!(["docs/**", "**"]),
        "what the agent and its tools require together"
    );
}
