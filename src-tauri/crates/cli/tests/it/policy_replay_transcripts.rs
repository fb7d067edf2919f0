//! `policy replay --from`: calls of other agents, as their transcripts have them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::CliFixture;

const CLAUDE_CODE: &str = include_str!("../../../gateway/tests/fixtures/claude-code.jsonl");
const CODEX: &str = include_str!("../../../gateway/tests/fixtures/codex.jsonl");

/// A transcript of a session in the workspace.
fn in_workspace(transcript: &str, place: &CliFixture) -> String {
    let workspace = fs::canonicalize(place.workspace()).unwrap();
    transcript.replace("/home/me/project", &workspace.display().to_string())
}

/// Puts a transcript into the folder of an agent; gives its path.
fn keep(agents: &str, path: &str, transcript: &str) -> String {
    let file = Path::new(agents).join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, transcript).unwrap();
    file.display().to_string()
}

/// Replays with the agents' folders, and returns the lines of JSON.
fn replay(place: &CliFixture, agents: &str, args: &[&str]) -> String {
    let output = place
        .command(&["policy", "replay", "--posture", "ask-first", "--json"])
        .args(args)
        .env("CLAUDE_CONFIG_DIR", agents)
        .env("CODEX_HOME", agents)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8(output.stdout).unwrap()
}

/// What the last line says of what is not among the calls.
fn left_out(told: &str) -> Value {
    let last: Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    last["left_out"].clone()
}

/// The report of each call as `tool verdict`.
fn verdicts(told: &str) -> Vec<String> {
    let reports = told.lines().map(|line| serde_json::from_str(line).unwrap());
    let reports = reports.filter(|report: &Value| report.get("verdict").is_some());
    let summary = |report: Value| {
        let text = |name: &str| report[name].as_str().unwrap_or_default().to_owned();
        format!("{} {}", text("tool"), text("verdict"))
    };
    reports.map(summary).collect()
}

#[test]
fn an_agent_s_calls_are_judged_in_their_order() {
    let place = CliFixture::new();
    place.write_file("cl.txt", "hello\n");
    let agents = place.create_outside_folder("agents");
    let file = keep(
        &agents,
        "projects/-home-me-project/8a0c1f0e.jsonl",
        &in_workspace(CLAUDE_CODE, &place),
    );
    keep(
        &agents,
        "sessions/2026/11/26/rollout-1.jsonl",
        &(in_workspace(CODEX, &place) + "no JSON\n"),
    );
    let expected = [
        "bash asked",
        "write passed",
        "read passed",
        "edit passed",
        "grep passed",
        "glob passed",
        "todo passed",
        "bash asked",
    ];
    let told = replay(&place, &agents, &["--from", "claude-code"]);
    assert_eq!(verdicts(&told), expected, "{told}");
    assert!(told.contains("8a0c1f0e-0000-4000-8000-000000000001"));
    assert_eq!(place.read_file("a.txt"), None);
    let named = replay(&place, &agents, &[&file, "--from", "claude-code"]);
    assert_eq!(verdicts(&named), expected, "{named}");

    let told = replay(&place, &agents, &["--from", "codex"]);
    assert_eq!(
        verdicts(&told),
        ["bash asked", "apply_patch passed", "todo passed"],
        "{told}"
    );
    let left_out = left_out(&told);
    assert_eq!(left_out["not_read"], 1);
    let reason = left_out["reasons"][0].as_str().unwrap();
    assert!(
        reason.starts_with("2026/11/26/rollout-1.jsonl, line 13: "),
        "{reason}"
    );
}

#[test]
fn what_is_unknown_or_elsewhere_is_said() {
    let place = CliFixture::new();
    let agents = place.create_outside_folder("agents");
    let unknown = CLAUDE_CODE.replace("\"Bash\"", "\"Monitor\"");
    keep(
        &agents,
        "projects/a/1.jsonl",
        &in_workspace(&unknown, &place),
    );
    let other = CLAUDE_CODE.replace("toolu_", "other_");
    keep(&agents, "projects/b/2.jsonl", &other);
    let told = replay(&place, &agents, &["--from", "claude-code"]);
    assert_eq!(verdicts(&told)[0], "Monitor failed", "{told}");
    assert!(
        told.contains("`Monitor` is not a tool of Claude Code"),
        "{told}"
    );
    let nothing_else = json!({"elsewhere": 8, "not_read": 0, "reasons": []});
    assert_eq!(left_out(&told), nothing_else);
    let in_words = place
        .command(&["policy", "replay", "--from", "claude-code"])
        .env("CLAUDE_CONFIG_DIR", &agents)
        .output()
        .unwrap();
    let warned = String::from_utf8(in_words.stderr).unwrap();
    assert!(
        warned.contains("they were made in other folders: 8 calls"),
        "{warned}"
    );

    let args = ["--from", "claude-code", "--since", "2099-01-01"];
    assert_eq!(verdicts(&replay(&place, &agents, &args)), [""; 0]);
    let missing = place.run(&["policy", "replay", "--since", "7d", "calls.jsonl"]);
    assert_eq!(missing.code, 2);
}
