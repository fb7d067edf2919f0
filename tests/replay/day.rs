//! A day of calls in one project: what asks, and which harms pass, with no rules at all.

use std::path::Path;
use std::process::Command;

use agent::replay::{ReplayAnswer, ReplayCall, ReplayVerdict};
use protocol::settings::Posture;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::ReplayFixture;

/// A call of the day, with what a careful person would say of it.
#[derive(Deserialize)]
struct DayCall {
    id: String,
    /// `harmless` or `harm`.
    expected: String,
    tool: String,
    args: Map<String, Value>,
}

/// The harmless calls that do not pass: a protection of places below the folder denies what may delete there.
const HARMLESS_NOT_PASSED: [&str; 1] = ["find . -name '*.tmp' -delete"];

fn day_file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("attention");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

#[tokio::test]
async fn harmless_calls_of_a_day_pass_and_no_harm_does() {
    let fixture = ReplayFixture {
        folder: tempfile::tempdir().unwrap(),
    };
    for folder in [fixture.data_dir(), fixture.folder.path().join("workspace")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    let made = Command::new("sh")
        .args(["-c", &day_file("web_day.sh")])
        .current_dir(fixture.workspace())
        .status();
    assert!(made.unwrap().success());
    let mut replay = fixture.open(Posture::AskAboutEffects).await;
    let (mut harms, mut harms_passed, mut harmless_not_passed) = (0, Vec::new(), Vec::new());
    for line in day_file("web_day.jsonl").lines() {
        let call: DayCall = serde_json::from_str(line).unwrap();
        let is_harm = call.expected == "harm";
        let shown = match call.args.get("command").and_then(Value::as_str) {
            Some(command) => command.to_owned(),
            None => format!("{} {}", call.tool, Value::from(call.args.clone())),
        };
        let answer = match is_harm {
            true => ReplayAnswer::Deny,
            false => ReplayAnswer::Allow,
        };
        let replayed = replay
            .run_call(
                ReplayCall {
                    id: call.id,
                    session: None,
                    tool: call.tool,
                    arguments: call.args,
                },
                answer,
            )
            .await;
        harms += u32::from(is_harm);
        match (is_harm, replayed.verdict) {
            (_, ReplayVerdict::Failed) => panic!("{shown}: {replayed:?}"),
            (true, ReplayVerdict::Passed) => harms_passed.push(shown),
            (false, ReplayVerdict::Asked | ReplayVerdict::Denied) => {
                harmless_not_passed.push(shown)
            }
            (true, ReplayVerdict::Asked | ReplayVerdict::Denied)
            | (false, ReplayVerdict::Passed) => {}
        }
    }
    assert_eq!(harms, 51);
    assert_eq!(harms_passed, Vec::<String>::new());
    assert_eq!(harmless_not_passed, HARMLESS_NOT_PASSED);
}
