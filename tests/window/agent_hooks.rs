//! Hooks of other people's agents: the real program asks, and the person answers in the window.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::support::Rig;
use crate::support::tour::Tour;

/// The command line's program, beside that of the app.
fn program() -> PathBuf {
    let app = Path::new(env!("CARGO_BIN_EXE_countersign-desktop"));
    let program = app.with_file_name("countersign");
    assert!(program.exists(), "{} is not built", program.display());
    program
}

/// Asks about a use of a tool, as Claude Code does.
async fn ask(rig: &Rig, folder: &Path, tool: &str, input: Value) -> Value {
    let event = json!({
        "session_id": "5e55",
        "cwd": folder,
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": input,
        "tool_use_id": format!("toolu_{tool}"),
    });
    let mut hook = Command::new(program());
    hook.arg("--data-dir").arg(rig.data_dir());
    hook.args(["hook", "claude-code"]);
    hook.stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    let mut child = hook.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(event.to_string().as_bytes()).await.unwrap();
    drop(input);
    let output: Output = child.wait_with_output().await.unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["hookSpecificOutput"].clone()
}

#[tokio::test]
async fn an_agent_asks_by_its_hook_in_light() {
    an_agent_asks("light").await;
}

#[tokio::test]
async fn an_agent_asks_by_its_hook_in_dark() {
    an_agent_asks("dark").await;
}

async fn an_agent_asks(theme: &str) {
    let posture = "posture = \"ask_about_effects\"\n";
    let (rig, mut tour) = Tour::start_on(theme, posture, |_| ()).await;
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("notes.txt");
    std::fs::write(&notes, "kept by nobody\n").unwrap();

    // A command that loses something asks about its effects, and is replaced by what carries out exactly these.
    let asking = ask(
        &rig,
        folder.path(),
        "Bash",
        json!({ "command": "rm notes.txt; echo gone" }),
    );
    let answering = async {
        let card = rig.card("notes.txt").await;
        tour.stop(&rig, "hook-command").await;
        rig.hold_or_click(&card).await;
    };
    let (answer, ()) = tokio::join!(asking, answering);
    assert_eq!(answer["permissionDecision"], "allow", "{answer}");
    assert!(notes.exists(), "nothing happened for real");
    let line = answer["updatedInput"]["command"].as_str().unwrap();
    let ran = Command::new("sh")
        .args(["-c", line])
        .output()
        .await
        .unwrap();
    assert_eq!(ran.stdout, b"gone\n");
    assert!(!notes.exists());

    // What is rejected does not run, and its agent reads the person's words.
    let create = json!({ "title": "Rename the parser" });
    let asking = ask(&rig, folder.path(), "mcp__hub__create_issue", create);
    let answering = async {
        let card = rig.card("create_issue").await;
        tour.stop(&rig, "hook-server-tool").await;
        rig.reject_by_click(&card).await;
    };
    let (answer, ()) = tokio::join!(asking, answering);
    assert_eq!(answer["permissionDecision"], "deny", "{answer}");

    rig.click("rail-history").await;
    rig.wait_for_text("undo-card", "rm notes.txt").await;
    rig.click("undo").await;
    rig.find("redo").await;
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "kept by nobody\n");
    tour.end();
    rig.end().await;
}
