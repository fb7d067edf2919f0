//! What is sent to a server that others read asks where effects are judged, and says why (M26).

use protocol::server::audience::Audience;
use protocol::server::mcp_servers::ServerChange;
use protocol::settings::Posture;
use protocol::{CallState, Settings};
use serde_json::json;
use support::servers::stdio_server;
use support::{Fixture, call_tool, rule_text, say_text};

/// What three calls come to after a first yes to their reading verb, where nobody is asked any more, and what their mode
/// says: one that names something, one with a sentence, and one that writes.
async fn play(audience: Option<Audience>, rules: &str) -> Vec<(CallState, String)> {
    let call =
        |tool: &str, about: &str| call_tool(&format!("one__{tool}"), json!({ "about": about }));
    let turns = [
        call("get_issue", "1"),
        say_text("Done."),
        call("get_issue", "2"),
        call("get_issue", "the one that we spoke of"),
        call("create_issue", "3"),
        say_text("Done."),
    ];
    let mut desk = Fixture::new(turns).await;
    let settings = |posture| Settings {
        posture: Some(posture),
        ..Settings::default()
    };
    desk.set_settings(settings(Posture::AskAboutEffects)).await;
    let set = ServerChange::Set {
        transport: stdio_server(env!("CARGO_BIN_EXE_mcp_server"), &["few", "issues"], &[]),
        timeout_ms: 20_000,
        audience,
    };
    desk.change_server(set).await.unwrap();
    let on = ServerChange::Switch { enabled: true };
    desk.change_server(on).await.unwrap();
    desk.start("Go.").await;
    desk.allow_next().await;
    desk.wait_until_ended().await;
    desk.write_rules(rules);
    // What would ask is denied from here on.
    desk.set_settings(settings(Posture::Unattended)).await;
    desk.send_message("Go on.").await;
    desk.wait_until_ended().await;
    let calls = desk.calls().await.into_iter().skip(1);
    let told = calls.map(|call| {
        let trail = call.trail.unwrap();
        let mode = trail.steps.first().map(|step| step.text.clone());
        (call.state, mode.unwrap_or_default())
    });
    told.collect()
}

const OTHERS: &str = "Others read what is sent to `one`, and nothing takes it back.";
const YES: &str = "You allowed a call of `one__get_*` before in this session.";
const UNKNOWN: &str =
    "No mode is known: not declared, and its name fits no pattern. Such a call asks.";

#[tokio::test]
async fn what_others_read_asks_with_that_reason() {
    use CallState::{Denied, Done};
    let allows = rule_text("one__create_issue", "*", "allow");
    for (audience, rules, expected) in [
        (None, "", [(Done, YES), (Done, YES), (Denied, UNKNOWN)]),
        (
            Some(Audience::Mine),
            "",
            [(Done, YES), (Done, YES), (Denied, UNKNOWN)],
        ),
        (
            Some(Audience::Others),
            "",
            [(Done, YES), (Denied, OTHERS), (Denied, OTHERS)],
        ),
        // A rule is the person's word on what they know.
        (
            Some(Audience::Others),
            &allows,
            [(Done, YES), (Denied, OTHERS), (Done, OTHERS)],
        ),
    ] {
        let told = play(audience, rules).await;
        let told: Vec<_> = told
            .iter()
            .map(|(state, text)| (*state, text.as_str()))
            .collect();
        assert_eq!(told, expected, "{audience:?} {rules}");
    }
}
