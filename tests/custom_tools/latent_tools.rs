//! Latent tools, the state that outputs go to, and what is wrong with files of tools.

use agent::Host;
use protocol::CallState;
use protocol::event::StateLocation;
use serde_json::json;
use support::{Fixture, call_bash, call_read, call_tool, say_text};

use super::{SENTIMENT, scripted_agents};

/// Latent and coded tools in one run, chosen by the model among all that are offered (`S004-14`, `S004-21`, `S004-22`,
/// `S004-24`, `S004-25`), with the reason that the system asks for (`S004-08`, `S004-09`).
#[tokio::test]
async fn latent_and_coded_tools_in_one_run() {
    let latent = json!({
        "text": "This is the best!",
        "_reasoningForCall": "The person asked for it.",
        "_output": { "sentiment": "positive", "confidence": 0.99 },
    });
    let roles = scripted_agents(
        [
            call_read("a.txt"),
            call_tool("sentimentAnalysis", latent),
            call_tool("sentimentAnalysis", json!({ "text": "x" })),
            say_text("Done."),
        ],
        json!([]),
    );
    let mut desk = Fixture::with_provider(roles.clone(), Host::Person).await;
    desk.write_file("a.txt", "hello\n")
        .write_file(".countersign/tools/sentiment.json", SENTIMENT)
        .play()
        .await;
    let calls = desk.calls().await;
    let states: Vec<_> = calls.iter().map(|view| view.state).collect();
    assert_eq!(
        states,
        [CallState::Done, CallState::Done, CallState::Failed]
    );
    let outcome = calls[1].outcome.as_ref().unwrap();
    let result = json!({ "sentiment": "positive", "confidence": 0.99 });
    assert_eq!(outcome.data, Some(result), "S004-48");
    assert_eq!(
        calls[1].reasoning.as_deref(),
        Some("The person asked for it.")
    );
    assert_eq!(calls[1].title, "sentimentAnalysis");
    let missing = &calls[2].outcome.as_ref().unwrap().text;
    assert!(
        missing.contains("`_output` is missing"),
        "S004-27: {missing}"
    );
    let offered = &roles.requests()[0].tools;
    let reasoned = offered.iter().all(|tool| {
        let members = tool.parameters["properties"].as_object().unwrap();
        members.contains_key("_reasoningForCall")
    });
    assert!(
        reasoned && offered.iter().any(|tool| tool.name == "sentimentAnalysis"),
        "S004-08"
    );
}

/// An output goes to the session's state, and later calls read it; each instance has its own (`S004-12`, `S004-13`,
/// `S004-19`, `S004-46`, `S004-48`). The same holds after a restart.
#[tokio::test]
async fn outputs_are_kept_and_read_again() {
    let note = r#"{"note":{"type":"object","properties":{"_outputPath":{"const":"notes.last"},"_instance":{"type":"string"},
        "_output":{"type":"string"}}}}"#;
    let turns = [
        call_tool("note", json!({ "_output": "shared\n" })),
        call_tool("note", json!({ "_output": "own\n", "_instance": "2" })),
        call_tool("read", json!({ "path": "a.txt", "_outputPath": "file" })),
        call_tool(
            "write",
            json!({ "path": "one.txt", "content": { "_state": "notes.last" } }),
        ),
        call_tool(
            "write",
            json!({ "path": "two.txt", "content": { "_state": "notes.last" }, "_instance": "2" }),
        ),
        call_tool(
            "write",
            json!({ "path": "no.txt", "content": { "_state": "nothing" } }),
        ),
        call_tool(
            "note",
            json!({ "_output": "x", "_outputPath": "elsewhere" }),
        ),
        call_bash("true"),
        call_tool(
            "write",
            json!({ "path": "late.txt", "content": { "_state": "notes.last" } }),
        ),
    ];
    let mut desk = Fixture::new(turns).await;
    desk.write_file("a.txt", "hello\n")
        .write_file(".countersign/tools/note.json", note);
    desk.start("Go.").await;
    desk.wait_for_call().await;
    assert_eq!(desk.read_file("one.txt").as_deref(), Some("shared\n"));
    assert_eq!(
        desk.read_file("two.txt").as_deref(),
        Some("own\n"),
        "S004-13"
    );
    let outcomes = desk.call_outcomes().await;
    assert!(
        outcomes[0]
            .1
            .contains(r#"read it with {"_state": "notes.last"}"#),
        "{outcomes:?}"
    );
    assert!(
        outcomes[5]
            .1
            .contains("nothing stands at `nothing` in the state. There is `notes`, `file`"),
        "{outcomes:?}"
    );
    assert!(
        outcomes[6]
            .1
            .contains("`_outputPath` of this tool is always `notes.last`"),
        "{outcomes:?}"
    );
    let kept: Vec<_> = desk
        .calls()
        .await
        .into_iter()
        .map(|view| view.stored_at)
        .collect();
    let place = |path: &str, instance: Option<&str>| {
        Some(StateLocation {
            path: path.into(),
            instance: instance.map(str::to_owned),
        })
    };
    assert_eq!(
        kept[..4],
        [
            place("notes.last", None),
            place("notes.last", Some("2")),
            place("file", None),
            None
        ]
    );
    let mut desk = desk.restart().await;
    desk.allow_next().await;
    desk.wait_until_ended().await;
    assert_eq!(desk.read_file("late.txt").as_deref(), Some("shared\n"));
}

/// A fault in a file of tools stands where other faults stand, and goes when it was corrected.
#[tokio::test]
async fn faults_of_tool_files_are_shown() {
    let mut desk = Fixture::new([say_text("Hi."), say_text("Hi.")]).await;
    desk.write_file(".countersign/tools/a.json", "{\n\"x\": 7}");
    desk.play().await;
    let faults = desk.snapshot().await.faults;
    assert_eq!(
        faults[0].message,
        ".countersign/tools/a.json, line 2: `x`: a tool is a JSON Schema, which is an object."
    );
    desk.write_file(".countersign/tools/a.json", "{}");
    desk.send_message("Again.").await;
    desk.wait_until_ended().await;
    assert_eq!(desk.snapshot().await.faults, []);
}
