//! Watchdogs before a call runs: the built-in checks, and the person's own programs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use agent::Host;
use protocol::event::CallChange;
use protocol::settings::WatchdogSettings;
use protocol::{CallState, Decision, EventBody, Gate, Settings, Verdict};
use serde::Serialize;
use serde_json::{Value, json};
use support::{Fixture, HEADLESS, HEADLESS_APPROVED, call_bash, call_read, rule_text};

/// A desk whose person has one watchdog: a shell script.
pub async fn desk_with_watchdog(
    script: &str,
    turns: impl Serialize,
    host: Host,
) -> (Fixture, PathBuf) {
    let mut desk = Fixture::with_host(turns, host).await;
    desk.write_file("a", "text\n");
    let heard = install_watchdog(&desk, script).await;
    (desk, heard)
}

/// Gives the desk's person a watchdog: a shell script, in which `HEARD` is the file that this names.
pub async fn install_watchdog(desk: &Fixture, script: &str) -> PathBuf {
    let heard = desk.data_dir().canonicalize().unwrap().join("heard");
    let program = heard.with_file_name("watchdog");
    let script = script.replace("HEARD", heard.to_str().unwrap());
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    set_watchdog(desk, program.to_str().unwrap(), 60_000).await;
    heard
}

async fn set_watchdog(desk: &Fixture, program: &str, timeout_ms: u32) {
    let settings = Settings {
        watchdogs: vec![WatchdogSettings {
            name: "sundays".to_owned(),
            program: program.to_owned(),
            timeout_ms,
        }],
        ..Settings::default()
    };
    desk.set_settings(settings).await;
}

fn reading() -> [Value; 1] {
    [call_read("a")]
}

/// The verdict on the only call, and the words of the watchdog gate.
async fn said(desk: &Fixture) -> (Verdict, Vec<String>) {
    let events = desk.events().await;
    let trail = events.iter().rev().find_map(|event| match &event.body {
        EventBody::Call {
            change: CallChange::Judged { trail, .. },
            ..
        } => Some(trail.clone()),
        _ => None,
    });
    let trail = trail.unwrap();
    let watchdog = trail
        .steps
        .iter()
        .filter(|step| step.gate == Gate::Watchdog);
    (
        trail.verdict,
        watchdog.map(|step| step.text.clone()).collect(),
    )
}

/// `S002-87`, `S002-88`: before a call runs, the program sees tool, arguments, manifest and session; its allow lets the call
/// proceed. The built-in agent has no manifest.
#[tokio::test]
async fn a_watchdog_sees_the_call_and_lets_it_pass() {
    let script = "cat > HEARD; echo '{\"verdict\":\"allow\"}'";
    let (mut desk, heard) = desk_with_watchdog(script, reading(), Host::Person).await;
    desk.play().await;
    assert_eq!(desk.calls().await[0].state, CallState::Done);
    assert_eq!(said(&desk).await, (Verdict::Allow, vec![]));
    let mut heard: Value = serde_json::from_str(&fs::read_to_string(heard).unwrap()).unwrap();
    let requires = heard["requires"].take();
    assert_eq!(requires["fs"]["read"], json!(["**"]));
    assert_eq!(
        heard,
        json!({
            "version": 2,
            "tool": "read",
            "arguments": { "path": "a" },
            "manifest": null,
            "requires": null,
            "session": "ses_1",
            "workspace": desk.workspace_root().canonicalize().unwrap(),
            "accesses": [{ "capability": "fs.read", "target": "a", "real": "a", "inside": true }],
        })
    );
}

/// `S002-89`, `S002-92`: a deny fails a call that everything else would let run, and the model reads the reason.
#[tokio::test]
async fn a_watchdog_s_deny_is_the_model_s_error() {
    let script = "echo '{\"verdict\":\"deny\",\"reason\":\"Not on a Sunday.\"}'";
    let (mut desk, _) = desk_with_watchdog(script, reading(), Host::Person).await;
    desk.play().await;
    let (state, text) = desk.call_outcomes().await.remove(0);
    assert_eq!(state, CallState::Denied);
    assert!(
        text.starts_with("Denied: the watchdog `sundays` says: Not on a Sunday."),
        "{text}"
    );
}

/// `S002-90`: what a watchdog asks, the person is asked, and picks once or reject; always is told of in `watchdog_grants`.
#[tokio::test]
async fn a_watchdog_s_ask_is_shown_to_the_person() {
    let script = "echo '{\"verdict\":\"ask\",\"reason\":\"Look closely.\"}'";
    for (decision, state) in [
        (Decision::allow(), CallState::Done),
        (Decision::reject(""), CallState::Rejected),
    ] {
        let (mut desk, _) = desk_with_watchdog(script, reading(), Host::Person).await;
        desk.start("go").await;
        let card = desk.wait_for_call().await;
        let told = "The watchdog `sundays` says: Look closely.";
        assert_eq!(said(&desk).await, (Verdict::Ask, vec![told.to_owned()]));
        desk.decide_call(&card, decision).await.unwrap();
        desk.wait_until_ended().await;
        assert_eq!(desk.calls().await[0].state, state);
    }
}

/// `S002-91`: where nobody is, a watchdog's ask is a deny, whatever was approved beforehand.
#[tokio::test]
async fn a_watchdog_s_ask_is_a_deny_where_nobody_is() {
    let script = "echo '{\"verdict\":\"ask\",\"reason\":\"Look closely.\"}'";
    for host in [HEADLESS, HEADLESS_APPROVED] {
        let (mut desk, _) = desk_with_watchdog(script, reading(), host).await;
        desk.play().await;
        let (state, text) = desk.call_outcomes().await.remove(0);
        assert_eq!(state, CallState::Denied);
        assert!(text.contains("says: Look closely."), "{text}");
    }
}

/// `S002-93`, `S002-94`: the capability check comes first: what it refuses no watchdog is even asked about, and a
/// watchdog's allow lifts neither that nor a rule.
#[tokio::test]
async fn a_watchdog_s_allow_lifts_nothing() {
    let script = "echo asked >> HEARD; echo '{\"verdict\":\"allow\"}'";
    let outside = [call_read("/etc/hostname")];
    let (mut desk, heard) = desk_with_watchdog(script, outside, Host::Person).await;
    desk.play().await;
    assert_eq!(desk.calls().await[0].state, CallState::Denied);
    assert!(!heard.exists());

    let (mut desk, heard) = desk_with_watchdog(script, reading(), Host::Person).await;
    let rule = "[[rule]]\npermission = \"read\"\naction = \"ask\"\n";
    desk.write_file(".countersign/rules.toml", rule)
        .start("go")
        .await;
    let card = desk.wait_for_call().await;
    assert!(heard.exists());
    desk.allow_call(&card).await;
    desk.wait_until_ended().await;
}

/// A watchdog that fails in any way asks the person, and the card says how.
#[tokio::test]
async fn a_watchdog_that_fails_asks() {
    for (script, told) in [
        ("exit 3", "ended with exit code 3."),
        ("kill -9 $$", "was ended by signal 9."),
        ("", "did not answer with"),
        ("echo allow", "did not answer with"),
        ("echo '{\"verdict\":\"yes\"}'", "did not answer with"),
        (
            "echo '{\"verdict\":\"allow\",\"because\":\"\"}'",
            "did not answer with",
        ),
        (
            "echo '{\"verdict\":\"allow\"}{\"verdict\":\"deny\"}'",
            "did not answer with",
        ),
        ("yes", "answered more than it may."),
    ] {
        let (mut desk, _) = desk_with_watchdog(script, reading(), HEADLESS).await;
        desk.play().await;
        let (_, text) = desk.call_outcomes().await.remove(0);
        assert!(
            text.contains("the watchdog `sundays`") && text.contains(told),
            "{script}: {text}"
        );
    }
    for (program, timeout_ms, told) in [
        ("relative", 1_000, "names no absolute file"),
        ("/nowhere/at/all", 1_000, "could not be started"),
        ("/usr/bin/yes", 0, "did not answer within 1 ms"),
    ] {
        let mut desk = Fixture::with_host(reading(), HEADLESS).await;
        set_watchdog(&desk, program, timeout_ms).await;
        desk.write_file("a", "text\n").play().await;
        let (_, text) = desk.call_outcomes().await.remove(0);
        let hasty = program == "/usr/bin/yes" && text.contains("more than it may");
        assert!(text.contains(told) || hasty, "{program}: {text}");
    }
}

/// Each layer refuses by itself, whatever the others say: the capability check and the watchdog under rules that allow
/// everything, a rule where everything lies inside.
#[tokio::test]
async fn each_layer_is_effective_alone() {
    let everything = "[[rule]]\npermission = \"*\"\naction = \"allow\"\n";
    let nothing = rule_text("fs.read", "a", "deny");
    for (rules, turn, by) in [
        ("", call_read("/etc/hostname"), Gate::Capability),
        (everything, call_read("../x"), Gate::Capability),
        (everything, call_bash("crontab jobs"), Gate::Watchdog),
        (everything, call_bash(":(){ :|:& };:"), Gate::Watchdog),
        (&nothing, call_read("a"), Gate::Rules),
    ] {
        let mut desk = Fixture::with_host([turn.clone()], HEADLESS_APPROVED).await;
        desk.write_rules(rules);
        desk.write_file("a", "text\n").play().await;
        assert_eq!(desk.calls().await[0].state, CallState::Denied, "{turn}");
        let events = desk.events().await;
        let denied = events.iter().find_map(|event| match &event.body {
            EventBody::Call {
                change: CallChange::Judged { trail, .. },
                ..
            } => Some(trail.clone()),
            _ => None,
        });
        let gates: Vec<Gate> = denied
            .unwrap()
            .steps
            .iter()
            .filter(|step| step.verdict == Some(Verdict::Deny))
            .map(|step| step.gate)
            .collect();
        assert!(gates.contains(&by), "{turn}: {gates:?}");
    }
}
